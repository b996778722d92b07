package turntable.bench;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import site.ycsb.Utils;
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * What FarReach's analysis draws from YCSB to find the bottleneck partition, and no more: keys of the
 * scrambled zipfian and the requests per partition slot. (The original also writes every request to a
 * file and counts every key.)
 *
 * <p>Arguments: records, draws. Prints the busiest of 16 partitions and its share.
 */
public final class PartitionLoads {
  private static final int SLOTS = 32768;
  private static final int PARTITIONS = 16;

  private PartitionLoads() {}

  public static void main(String[] arguments) {
    long records = Long.parseLong(arguments[0]);
    long draws = Long.parseLong(arguments[1]);
    long[] slots = count(new ScrambledZipfianGenerator(0, records), draws);
    long[] partitions = new long[PARTITIONS];
    for (int slot = 0; slot < SLOTS; slot++) {
      partitions[slot / (SLOTS / PARTITIONS)] += slots[slot];
    }
    int busiest = 0;
    for (int i = 1; i < PARTITIONS; i++) {
      busiest = partitions[i] > partitions[busiest] ? i : busiest;
    }
    System.out.printf("%d %.6f%n", busiest, (double) partitions[busiest] / draws);
  }

  private static long[] count(ScrambledZipfianGenerator generator, long draws) {
    long[] slots = new long[SLOTS];
    byte[] wire = new byte[WireKey.BYTES];
    ByteBuffer buffer = ByteBuffer.wrap(wire);
    CRC32 crc = new CRC32();
    for (long i = 0; i < draws; i++) {
      String key = "user" + Utils.hash(generator.nextValue());
      WireKey.put(buffer.clear(), WireKey.id(key));
      crc.reset();
      crc.update(wire);
      slots[(int) (crc.getValue() % SLOTS)]++;
    }
    return slots;
  }
}
