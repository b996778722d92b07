package site.ycsb.workloads;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/** A key as FarReach's client sends it: its reference, section 5.1. */
final class WireKey {
  static final int SLOTS = 32768;

  private WireKey() {}

  static byte[] bytes(long id) {
    int high = (int) (id >>> 32);
    return ByteBuffer.allocate(16).putLong(0).putInt((int) id)
        .putShort((short) high).putShort((short) (high >>> 16)).array();
  }

  static long crc(long id) {
    CRC32 crc = new CRC32();
    crc.update(bytes(id));
    return crc.getValue();
  }
}
