package turntable.ycsb;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.zip.Deflater;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * HdrHistogram's V2 compressed encoding, in base64. The library that YCSB brings writes V1, which the
 * analysis does not read.
 */
final class Encoding {
  static final int DIGITS = 3;
  private static final int COOKIE = 0x1c849303 | 0x10;
  private static final int COMPRESSED_COOKIE = 0x1c849304 | 0x10;
  private static final int HEADER_BYTES = 40;
  private static final int HALF_MAGNITUDE = 10; // of sub-buckets: 2 * 10^3 need 2048
  private static final int HALF = 1 << HALF_MAGNITUDE;
  private static final int LONGEST_NUMBER = 9;

  private Encoding() {}

  static String of(Histogram histogram, long longest) {
    ByteBuffer plain = ByteBuffer.allocate(HEADER_BYTES
        + 2 * LONGEST_NUMBER * (index(longest) + 2));
    plain.position(HEADER_BYTES);
    putCounts(histogram, plain);
    int size = plain.position();
    plain.putInt(0, COOKIE).putInt(4, size - HEADER_BYTES).putInt(8, 0).putInt(12, DIGITS);
    plain.putLong(16, 1).putLong(24, longest).putDouble(32, 1.0);
    return Base64.getEncoder().encodeToString(compressed(plain.array(), size));
  }

  /** Counts as zigzag LEB128 numbers; zeros in a row as minus how many there are. */
  private static void putCounts(Histogram histogram, ByteBuffer to) {
    int next = 0;
    for (HistogramIterationValue value : histogram.recordedValues()) {
      int index = index(value.getValueIteratedTo());
      if (index > next) {
        putNumber(to, next - index);
      }
      putNumber(to, value.getCountAtValueIteratedTo());
      next = index + 1;
    }
  }

  private static int index(long value) {
    int bucket = Long.SIZE - HALF_MAGNITUDE - 1
        - Long.numberOfLeadingZeros(value | (2 * HALF - 1));
    return ((bucket + 1) << HALF_MAGNITUDE) + (int) (value >>> bucket) - HALF;
  }

  /** At most nine bytes, of which the last has eight bits of the number. */
  private static void putNumber(ByteBuffer to, long number) {
    long rest = number << 1 ^ number >> 63;
    for (int i = 1; i < LONGEST_NUMBER && rest >>> 7 != 0; i++) {
      to.put((byte) (rest | 0x80));
      rest >>>= 7;
    }
    to.put((byte) rest);
  }

  private static byte[] compressed(byte[] plain, int size) {
    Deflater deflater = new Deflater();
    deflater.setInput(plain, 0, size);
    deflater.finish();
    byte[] bytes = new byte[size + 64];
    int deflated = deflater.deflate(bytes);
    deflater.end();
    return ByteBuffer.allocate(8 + deflated).putInt(COMPRESSED_COOKIE).putInt(deflated)
        .put(bytes, 0, deflated).array();
  }
}
