package site.ycsb.workloads;

import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.HexFormat;
import java.util.Properties;
import java.util.SplittableRandom;
import site.ycsb.Utils;
import site.ycsb.generator.DiscreteGenerator;
import site.ycsb.generator.ZipfianGenerator;

/** Prints "question = answer" lines in the language of ycsb-evaluate. */
final class Vectors {
  private static final int DRAWS = 4000;
  private static final double[] THETAS = {0.1, 0.5, 0.9, 0.95, 0.99};

  private final PrintStream out;
  private final SeededDraws draws = new SeededDraws(20230710);

  Vectors(PrintStream out) throws ReflectiveOperationException {
    this.out = out;
  }

  void print() throws Exception {
    hashes();
    zetas();
    zipfian();
    scrambled();
    latest();
    uniform();
    operations();
    keys();
  }

  private void hashes() {
    SplittableRandom random = new SplittableRandom(1);
    for (long i = 0; i < DRAWS; i++) {
      long value = i < 1000 ? i : random.nextLong() >>> (i % 64);
      out.printf("hash %s = %d%n", Long.toUnsignedString(value), Utils.fnvhash64(value));
    }
  }

  private void zetas() throws ReflectiveOperationException {
    Method zeta = ZipfianGenerator.class.getDeclaredMethod("zetastatic", long.class, double.class);
    zeta.setAccessible(true);
    for (double theta : THETAS) {
      for (long n : new long[] {1, 2, 63, 64, 65, 1000, 1_000_000}) {
        out.printf("zeta %d %s = %s%n", n, theta, zeta.invoke(null, n, theta));
      }
    }
  }

  private void zipfian() {
    for (double theta : THETAS) {
      for (long items : new long[] {1, 2, 3, 10, 1000, 1_000_000}) {
        ZipfianGenerator generator = new ZipfianGenerator(items, theta);
        for (int i = 0; i < DRAWS / 4; i++) {
          SeededDraws.UnitDraw draw = draws.drawUnit(generator::nextValue);
          out.printf("zipfian %d %s %d = %s%n", items, theta, draw.unit(), draw.result());
        }
      }
    }
  }

  private void scrambled() throws Exception {
    for (long records : new long[] {1, 1000, 100_000_000}) {
      DrivenWorkload workload = DrivenWorkload.of("zipfian", records);
      for (int i = 0; i < DRAWS; i++) {
        SeededDraws.UnitDraw draw = draws.drawUnit(workload::candidate);
        out.printf("scrambled %d %d = %s%n", records, draw.unit(), draw.result());
      }
    }
  }

  private void latest() throws Exception {
    for (long records : new long[] {1000, 1_000_000}) {
      DrivenWorkload workload = DrivenWorkload.of("latest", records);
      long last = records - 1;
      for (int i = 0; i < DRAWS; i++) {
        SeededDraws.UnitDraw draw = draws.drawUnit(workload::candidate);
        out.printf("latest %d %d %d = %s%n", records, last, draw.unit(), draw.result());
        if (i % 3 == 0) {
          last = workload.insert();
        }
      }
    }
  }

  private void uniform() throws Exception {
    for (long records : new long[] {1, 1000, 100_000_000}) {
      DrivenWorkload workload = DrivenWorkload.of("uniform", records);
      for (int i = 0; i < DRAWS; i++) {
        SeededDraws.LongDraw draw = draws.drawLong(workload::candidate);
        out.printf("uniform %d %s = %s%n",
            records, Long.toUnsignedString(draw.bits()), draw.result());
      }
    }
  }

  private void operations() {
    String[] mixes = {"0.5 0.5 0 0 0", "0.95 0.05 0 0 0", "0.95 0 0.05 0 0", "0.5 0 0 0 0.5",
        "0 1 0 0 0", "0 0 0.05 0.95 0", "0.2 0.2 0.2 0.2 0.2"};
    String[] names = {"read", "update", "insert", "scan", "readmodifywrite"};
    for (String mix : mixes) {
      Properties properties = new Properties();
      String[] shares = mix.split(" ");
      for (int i = 0; i < names.length; i++) {
        properties.setProperty(names[i] + "proportion", shares[i]);
      }
      DiscreteGenerator generator = CoreWorkload.createOperationGenerator(properties);
      for (int i = 0; i < DRAWS; i++) {
        SeededDraws.UnitDraw draw = draws.drawUnit(generator::nextValue);
        out.printf("operation %s %d = %s%n", mix, draw.unit(), draw.result());
      }
    }
  }

  private void keys() throws Exception {
    DrivenWorkload workload = DrivenWorkload.of("uniform", 1000);
    for (long number = 0; number < 4L * DRAWS; number++) {
      String name = workload.keyName(number);
      long id = Long.parseLong(name.substring("user".length()));
      long crc = WireKey.crc(id);
      out.printf("key %d = %d %s %d %d%n",
          number, id, HexFormat.of().formatHex(WireKey.bytes(id)), crc, crc % WireKey.SLOTS);
    }
  }
}
