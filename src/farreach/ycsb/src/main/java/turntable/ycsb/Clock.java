package turntable.ycsb;

import java.time.Instant;

/** Instants of CLOCK_REALTIME that never go backwards: CLOCK_MONOTONIC and one offset. */
final class Clock {
  private static final long OFFSET_NS = realtime() - System.nanoTime();

  private Clock() {}

  private static long realtime() {
    Instant now = Instant.now();
    return now.getEpochSecond() * 1_000_000_000 + now.getNano();
  }

  static long nowNs() {
    return System.nanoTime() + OFFSET_NS;
  }
}
