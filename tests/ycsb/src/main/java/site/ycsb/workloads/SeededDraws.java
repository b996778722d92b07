package site.ycsb.workloads;

import java.lang.reflect.Field;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/**
 * Repeatable draws from generators that use ThreadLocalRandom, which has no public seed.
 *
 * <p>The seed is a field of the thread. Setting it twice to the same value gives the same random
 * numbers twice: once to look at them, once for the generator. Needs
 * {@code --add-opens java.base/java.lang=ALL-UNNAMED}.
 */
final class SeededDraws {
  private static final double TWO_TO_53 = 0x1.0p53;

  private final Field seedField;
  private long seed;

  SeededDraws(long firstSeed) throws ReflectiveOperationException {
    ThreadLocalRandom.current(); // initializes the thread's fields once
    seedField = Thread.class.getDeclaredField("threadLocalRandomSeed");
    seedField.setAccessible(true);
    seed = firstSeed;
  }

  /** One draw: the uniform double it starts from, as an integer times 2^-53, and the result. */
  record UnitDraw(long unit, String result) {}

  /** One draw: the random long it starts from, and the result. */
  record LongDraw(long bits, String result) {}

  UnitDraw drawUnit(Supplier<?> generator) {
    seed += 0x9E3779B97F4A7C15L;
    rewind();
    long unit = (long) (ThreadLocalRandom.current().nextDouble() * TWO_TO_53);
    rewind();
    return new UnitDraw(unit, String.valueOf(generator.get()));
  }

  LongDraw drawLong(Supplier<?> generator) {
    seed += 0x9E3779B97F4A7C15L;
    rewind();
    long bits = ThreadLocalRandom.current().nextLong();
    rewind();
    return new LongDraw(bits, String.valueOf(generator.get()));
  }

  private void rewind() {
    try {
      seedField.setLong(Thread.currentThread(), seed);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
