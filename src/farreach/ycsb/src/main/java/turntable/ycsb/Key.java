package turntable.ycsb;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/** A YCSB key as the rest of the project knows it (docs/workloads.md §2). */
final class Key {
  static final int BYTES = 16;
  static final int SLOTS = 32768;
  private static final String PREFIX = "user";

  private Key() {}

  /** The number in a key such as {@code user2571001333982442796}. */
  static long id(String key) {
    try {
      if (key.startsWith(PREFIX)) {
        long id = Long.parseLong(key, PREFIX.length(), key.length(), 10);
        if (id >= 0) {
          return id;
        }
      }
    } catch (NumberFormatException notANumber) {
      // said below
    }
    throw new IllegalArgumentException(
        "key \"" + key + "\"; expected user<number> as YCSB's CoreWorkload makes them");
  }

  static void put(ByteBuffer to, long id) {
    to.putLong(0).putInt((int) id).putShort((short) (id >>> 32)).putShort((short) (id >>> 48));
  }

  /** What {@link #put} wrote; -1 if it did not. */
  static long get(ByteBuffer from) {
    long zeros = from.getLong();
    long low = Integer.toUnsignedLong(from.getInt());
    long middle = Short.toUnsignedLong(from.getShort());
    long high = Short.toUnsignedLong(from.getShort());
    return zeros == 0 ? high << 48 | middle << 32 | low : -1;
  }

  static byte[] wire(long id) {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    put(bytes, id);
    return bytes.array();
  }

  /** The logical server that has the key, of so many. */
  static int partition(long id, int servers) {
    CRC32 crc = new CRC32();
    crc.update(wire(id));
    return (int) (crc.getValue() % SLOTS) / (SLOTS / servers);
  }
}
