package turntable.ycsb;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;
import org.codehaus.jackson.map.ObjectMapper;

/** The counts of all threads as kvclient's raw statistics (docs/raw-format.md), in a file. */
final class Statistics {
  private final Settings settings;
  private final List<Counts> threads;
  private final long startNs;
  private final long measuredNs;

  Statistics(Settings settings, List<Counts> threads, long startNs) {
    this.settings = settings;
    this.threads = threads;
    this.startNs = startNs;
    long last = threads.stream().mapToLong(thread -> thread.lastAnswerNs).max().orElse(startNs);
    measuredNs = settings.measureNs > 0 ? settings.measureNs : Math.max(0, last - startNs);
  }

  void write(Map<String, Object> more) throws IOException {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("format", 1);
    out.put("complete", true);
    out.put("scale", settings.servers);
    out.put("idle_clients", List.of());
    out.put("socket_drops", sum(thread -> thread.socketDrops));
    List<Map<String, Object>> partitions = new ArrayList<>();
    for (int i = 0; i < settings.servers; i++) {
      partitions.add(partition(i));
    }
    out.put("operations", sum(thread -> Arrays.stream(thread.partitions)
        .mapToLong(row -> row.serverOps + row.switchOps).sum()));
    out.put("partitions", partitions);
    out.put("seconds", seconds());
    out.put("window_ns", measuredNs);
    out.put("threads", threads.stream().map(this::thread).toList());
    out.put("start_late_max_us",
        threads.stream().mapToDouble(this::lateUs).max().orElse(0));
    addWhole(out);
    out.putAll(more);
    new ObjectMapper().writeValue(new File(settings.statistics), out);
  }

  private void addWhole(Map<String, Object> out) {
    out.put("timeouts", sum(thread -> thread.timeouts));
    out.put("retries", sum(thread -> thread.retries));
    out.put("stale_answers", sum(thread -> thread.stale));
    out.put("malformed", sum(thread -> thread.malformed));
    out.put("mismatched", sum(thread -> thread.mismatched));
    out.put("wrong_node", sum(thread -> thread.wrongNode));
    out.put("wrong_values", 0);
    out.put("not_found", sum(thread -> thread.notFound));
    out.put("send_errors", sum(thread -> thread.sendErrors));
    out.put("receive_errors", sum(thread -> thread.receiveErrors));
    out.put("in_flight_at_stop", sum(thread -> thread.unanswered));
    out.put("answered_in_drain", 0);
    out.put("unanswered", sum(thread -> thread.unanswered));
    out.put("latency_clamped", sum(thread -> thread.clamped));
  }

  private long sum(ToLongFunction<Counts> of) {
    return threads.stream().mapToLong(of).sum();
  }

  private double lateUs(Counts thread) {
    return thread.firstSentNs == 0 ? 0 : (thread.firstSentNs - startNs) / 1e3;
  }

  private Map<String, Object> thread(Counts thread) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("measured_ns", measuredNs);
    row.put("start_late_us", lateUs(thread));
    row.put("window_late_us", 0);
    row.put("read_late_max_us", null);
    row.put("run_ns", null);
    row.put("wait_ns", null);
    return row;
  }

  private Map<String, Object> partition(int index) {
    Histogram server = new Histogram(Counts.LONGEST_NS, Encoding.DIGITS);
    Histogram ofSwitch = new Histogram(Counts.LONGEST_NS, Encoding.DIGITS);
    for (Counts thread : threads) {
      server.add(thread.partitions[index].serverLatency);
      ofSwitch.add(thread.partitions[index].switchLatency);
    }
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("partition", index);
    row.put("server_ops", sum(thread -> thread.partitions[index].serverOps));
    row.put("switch_ops", sum(thread -> thread.partitions[index].switchOps));
    row.put("server_latency_sum_ns", sum(thread -> thread.partitions[index].serverSumNs));
    row.put("switch_latency_sum_ns", sum(thread -> thread.partitions[index].switchSumNs));
    row.put("server_latency_ns", Encoding.of(server, Counts.LONGEST_NS));
    row.put("switch_latency_ns", Encoding.of(ofSwitch, Counts.LONGEST_NS));
    row.put("requests_total", sum(thread -> thread.partitions[index].requests));
    row.put("answers_total", sum(thread -> thread.partitions[index].answers));
    return row;
  }

  private List<Map<String, Object>> seconds() {
    int begun = threads.stream().mapToInt(thread -> thread.seconds.size()).max().orElse(0);
    int planned = (int) ((measuredNs + 999_999_999) / 1_000_000_000);
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int second = 0; second < Math.max(begun, planned); second++) {
      List<Map<String, Object>> partitions = new ArrayList<>();
      for (int partition = 0; partition < settings.servers; partition++) {
        partitions.add(second(second, partition));
      }
      Map<String, Object> row = new LinkedHashMap<>();
      int here = second;
      row.put("second", second);
      row.put("retries", sum(thread -> here < thread.retriesBySecond.size()
          ? thread.retriesBySecond.get(here) : 0));
      row.put("partitions", partitions);
      rows.add(row);
    }
    return rows;
  }

  private Map<String, Object> second(int second, int partition) {
    Counts.Second total = new Counts.Second();
    for (Counts thread : threads) {
      if (second < thread.seconds.size()) {
        Counts.Second part = thread.seconds.get(second)[partition];
        total.serverOps += part.serverOps;
        total.switchOps += part.switchOps;
        total.sumNs += part.sumNs;
        total.longestNs = Math.max(total.longestNs, part.longestNs);
      }
    }
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("partition", partition);
    row.put("server_ops", total.serverOps);
    row.put("switch_ops", total.switchOps);
    row.put("latency_sum_ns", total.sumNs);
    row.put("latency_max_ns", total.longestNs);
    return row;
  }
}
