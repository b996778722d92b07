package turntable.bench;

import java.nio.ByteBuffer;

/** A YCSB key in a packet, as FarReach's client puts it there (docs/workloads.md). */
final class WireKey {
  static final int BYTES = 16;
  private static final int PREFIX = "user".length();

  private WireKey() {}

  /** The number in a YCSB key such as {@code user2571001333982442796}. */
  static long id(String key) {
    return Long.parseLong(key, PREFIX, key.length(), 10);
  }

  static void put(ByteBuffer to, long id) {
    int high = (int) (id >>> 32);
    to.putLong(0).putInt((int) id).putShort((short) high).putShort((short) (high >>> 16));
  }
}
