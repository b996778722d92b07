package site.ycsb.workloads;

import java.io.PrintStream;
import site.ycsb.generator.ScrambledZipfianGenerator;
import site.ycsb.generator.ZipfianGenerator;

/** Counts many draws, with the randomness that YCSB itself uses: no seed. */
final class Samples {
  private static final int PARTITIONS = 128;
  private static final int SINGLE_RANKS = 64;

  private final PrintStream out;

  Samples(PrintStream out) {
    this.out = out;
  }

  /** One line: how often each of 128 partitions was asked for. */
  void partitions(String distribution, long records, long draws) throws Exception {
    DrivenWorkload workload = DrivenWorkload.of(distribution, records);
    long[] counts = new long[PARTITIONS];
    for (long i = 0; i < draws; i++) {
      String name = workload.keyName(workload.keyNumber());
      long id = Long.parseLong(name.substring("user".length()));
      long slot = WireKey.crc(id) % WireKey.SLOTS;
      counts[(int) (slot / (WireKey.SLOTS / PARTITIONS))]++;
    }
    print(counts);
  }

  /** One line: ranks 0..63 one by one, then one count for each further power of two. */
  void zipfianRanks(long draws) {
    ZipfianGenerator generator = new ZipfianGenerator(0, ScrambledZipfianGenerator.ITEM_COUNT,
        ScrambledZipfianGenerator.USED_ZIPFIAN_CONSTANT, ScrambledZipfianGenerator.ZETAN);
    long[] counts = new long[SINGLE_RANKS + 64];
    for (long i = 0; i < draws; i++) {
      counts[bin(generator.nextValue())]++;
    }
    print(counts);
  }

  /** The same for the age of the record that "latest" asks for. */
  void latestAges(long records, long draws) throws Exception {
    DrivenWorkload workload = DrivenWorkload.of("latest", records);
    long[] counts = new long[SINGLE_RANKS + 64];
    for (long i = 0; i < draws; i++) {
      counts[bin(records - 1 - workload.keyNumber())]++;
    }
    print(counts);
  }

  private static int bin(long rank) {
    return rank < SINGLE_RANKS
        ? (int) rank
        : SINGLE_RANKS + Long.numberOfTrailingZeros(Long.highestOneBit(rank / SINGLE_RANKS));
  }

  private void print(long[] counts) {
    StringBuilder line = new StringBuilder();
    for (long count : counts) {
      line.append(count).append(' ');
    }
    out.println(line.toString().trim());
  }
}
