package site.ycsb.workloads;

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;

/** Main program: "vectors FILE" or "samples FILE DRAWS"; the file gets the answers. */
public final class CrossCheck {
  private static final long PAPER_RECORDS = 100_000_000;
  private static final long FEW_RECORDS = 100_000;

  private CrossCheck() {}

  public static void main(String[] args) throws Exception {
    // YCSB itself prints to standard output.
    try (PrintStream out =
        new PrintStream(new BufferedOutputStream(new FileOutputStream(args[1])))) {
      if (args[0].equals("vectors")) {
        new Vectors(out).print();
      } else {
        samples(new Samples(out), Long.parseLong(args[2]));
      }
    }
  }

  private static void samples(Samples samples, long draws) throws Exception {
    samples.partitions("zipfian", PAPER_RECORDS, draws);
    samples.partitions("uniform", PAPER_RECORDS, draws);
    samples.zipfianRanks(draws);
    samples.latestAges(FEW_RECORDS, draws);
  }
}
