package turntable.ycsb;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** What one thread counts; the fields are those of kvclient (docs/raw-format.md). By one thread at a time. */
final class Counts {
  static final long LONGEST_NS = 60_000_000_000L;
  private static final long SECOND_NS = 1_000_000_000;

  /** Of one partition. */
  static final class Partition {
    long serverOps;
    long switchOps;
    long serverSumNs;
    long switchSumNs;
    final Histogram serverLatency = new Histogram(Encoding.DIGITS);
    final Histogram switchLatency = new Histogram(Encoding.DIGITS);
    long requests;
    long answers;
  }

  /** Of one partition in one second of the window. */
  static final class Second {
    long serverOps;
    long switchOps;
    long sumNs;
    long longestNs;
  }

  final Partition[] partitions;
  final List<Second[]> seconds = new ArrayList<>();
  final List<Long> retriesBySecond = new ArrayList<>();
  long timeouts;
  long retries;
  long stale;
  long malformed;
  long mismatched;
  long wrongNode;
  long notFound;
  long receiveErrors;
  long sendErrors;
  long socketDrops;
  long unanswered;
  long clamped;
  long firstSentNs;
  long lastAnswerNs;

  private final long windowFromNs;
  private final long windowUntilNs;

  Counts(int servers, long windowFromNs, long windowUntilNs) {
    this.windowFromNs = windowFromNs;
    this.windowUntilNs = windowUntilNs;
    partitions = new Partition[servers];
    for (int i = 0; i < servers; i++) {
      partitions[i] = new Partition();
    }
  }

  private boolean inWindow(long nowNs) {
    return nowNs >= windowFromNs && nowNs < windowUntilNs;
  }

  private int second(long nowNs) {
    int second = (int) ((nowNs - windowFromNs) / SECOND_NS);
    while (seconds.size() <= second) {
      Second[] row = new Second[partitions.length];
      for (int i = 0; i < row.length; i++) {
        row[i] = new Second();
      }
      seconds.add(row);
      retriesBySecond.add(0L);
    }
    return second;
  }

  void retried(long nowNs) {
    retries++;
    if (inWindow(nowNs)) {
      retriesBySecond.set(second(nowNs), retriesBySecond.get(second(nowNs)) + 1);
    }
  }

  void answered(int partition, boolean bySwitch, long latencyNs, long nowNs) {
    lastAnswerNs = nowNs;
    if (!inWindow(nowNs)) {
      return;
    }
    Partition counts = partitions[partition];
    Second here = seconds.get(second(nowNs))[partition];
    long recorded = Math.min(latencyNs, LONGEST_NS);
    clamped += latencyNs > LONGEST_NS ? 1 : 0;
    if (bySwitch) {
      counts.switchOps++;
      counts.switchSumNs += latencyNs;
      counts.switchLatency.recordValue(recorded);
      here.switchOps++;
    } else {
      counts.serverOps++;
      counts.serverSumNs += latencyNs;
      counts.serverLatency.recordValue(recorded);
      here.serverOps++;
    }
    here.sumNs += latencyNs;
    here.longestNs = Math.max(here.longestNs, latencyNs);
  }
}
