#include "mcload/table.h"

#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "mcload/raw_statistics.h"

namespace turntable::mcload {
namespace {

constexpr double kUs = 1e3;

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
  std::array<char, 512> line{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
  return line.data();
}

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments_of(const stats::Histogram& histogram) {
  if (histogram.count() == 0) return {};
  const auto count = static_cast<double>(histogram.count());
  Moments moments{.mean = static_cast<double>(histogram.sum()) / count};
  double squares = 0;
  histogram.for_each_bucket([&](std::int64_t low, std::int64_t high, std::uint64_t in) {
    const double off = static_cast<double>(low + high) / 2 - moments.mean;
    squares += off * off * static_cast<double>(in);
  });
  moments.deviation = std::sqrt(squares / count);
  return moments;
}

// Mean and deviation are those of the answers.
std::string row(const char* name, const Offered& offered, double unit) {
  const Moments moments = moments_of(offered.answered());
  std::string line = text("%-7s", name);
  for (const double value : {moments.mean, moments.deviation}) line += text(" %7.1f", value / unit);
  for (const double percentile : {0.0, 5.0, 10.0, 90.0, 95.0, 99.0})
    line += text(" %7.1f", static_cast<double>(offered.percentile_ns(percentile)) / unit);
  return line + "\n";
}

// Of the GETs, or of the SETs.
Offered offered_of(const Measured& measured, const Latencies& latencies, bool from_send) {
  if (from_send) return {latencies.from_send_ns, latencies.lost, measured.waited_ns};
  return {latencies.intended_ns, latencies.lost + latencies.unsent, measured.waited_ns};
}

double share(std::int64_t part, std::int64_t of) {
  return of > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(of) : 0;
}

// "count", "mean" and "sd" are those of the answers.
nlohmann::json percentiles(const Offered& offered) {
  const stats::Histogram& answered = offered.answered();
  const Moments moments = moments_of(answered);
  const auto at = [&](double percentile) {
    return static_cast<double>(offered.percentile_ns(percentile)) / kUs;
  };
  const std::int64_t max_ns =
      offered.unanswered() > 0 ? offered.percentile_ns(100) : answered.max();
  return {{"count", answered.count()},
          {"unanswered", offered.unanswered()},
          {"mean", moments.mean / kUs},
          {"sd", moments.deviation / kUs},
          {"min", at(0)},
          {"p5", at(5)},
          {"p10", at(10)},
          {"p50", at(50)},
          {"p90", at(90)},
          {"p95", at(95)},
          {"p99", at(99)},
          {"p999", at(99.9)},
          {"max", static_cast<double>(max_ns) / kUs}};
}

}  // namespace

std::string table_header() {
  return "#type       avg     std     min     5th    10th    90th    95th    99th\n";
}

std::string table_rows(const Measured& measured, bool from_send) {
  const KeyValueStatistics& s = measured.key_value;
  return row("read", offered_of(measured, s.get, from_send), kUs) +
         row("update", offered_of(measured, s.set, from_send), kUs) +
         row("op_q", Offered(s.queued, 0, 0), 1);
}

std::string table_footer(const Measured& measured, bool from_send, bool is_closed_loop) {
  const load::OpenLoopStatistics& loop = measured.loop;
  const KeyValueStatistics& s = measured.key_value;
  const double seconds = static_cast<double>(measured.window_ns) / 1e9;
  const auto mb = [&](std::uint64_t bytes) {
    return static_cast<double>(bytes) / seconds / 1024 / 1024;
  };
  std::string out = text("\nTotal QPS = %.1f (%lld / %.1fs)\n", measured.achieved_per_s(),
                         static_cast<long long>(loop.delivered), seconds);
  out +=
      text("\nMisses = %lld (%.1f%%)\n", static_cast<long long>(s.misses), share(s.misses, s.gets));
  out += text("Skipped TXs = %lld (%.1f%%)\n", static_cast<long long>(loop.unsent),
              share(loop.unsent, loop.offered));
  out += text("\nRX %10llu bytes : %6.1f MB/s\n", static_cast<unsigned long long>(s.rx_bytes),
              mb(s.rx_bytes));
  out += text("TX %10llu bytes : %6.1f MB/s\n", static_cast<unsigned long long>(s.tx_bytes),
              mb(s.tx_bytes));
  const stats::Histogram& late = loop.send_late_ns;
  out +=
      text("\n# latencies in us %s%s\n", from_send ? "from the send" : "from the intended instant",
           is_closed_loop ? "; CLOSED LOOP at full depth: they are its own queue" : "");
  out += text("# offered %lld withheld %lld lost %lld errors %lld closed %lld\n",
              static_cast<long long>(loop.offered), static_cast<long long>(loop.withheld),
              static_cast<long long>(loop.lost), static_cast<long long>(s.errors.of_requests()),
              static_cast<long long>(s.errors.closed));
  out += text(
      "# generator: sent late by p50 %.1f p99 %.1f us; CPU %.3f user %.3f system us per "
      "request\n",
      static_cast<double>(late.value_at_percentile(50)) / kUs,
      static_cast<double>(late.value_at_percentile(99)) / kUs,
      loop.delivered > 0
          ? static_cast<double>(s.user_ns) / kUs / static_cast<double>(loop.delivered)
          : 0,
      loop.delivered > 0
          ? static_cast<double>(s.system_ns) / kUs / static_cast<double>(loop.delivered)
          : 0);
  return out;
}

std::string scan_header() {
  return "#type       avg     std     min     5th    10th    90th    95th    99th      QPS   "
         "target\n";
}

std::string scan_row(const Measured& measured, bool from_send, double rate_per_s) {
  std::string line = row("read", offered_of(measured, measured.key_value.get, from_send), kUs);
  line.pop_back();
  return line + text(" %8.1f %8.1f\n", measured.achieved_per_s(), rate_per_s);
}

std::string distribution(const Measured& measured, bool from_send) {
  const Offered offered = measured.latencies(from_send);
  const stats::Histogram& histogram = offered.answered();
  const double all =
      static_cast<double>(histogram.count()) + static_cast<double>(offered.unanswered());
  std::string out = "# from_us to_us count share_up_to_here\n";
  std::uint64_t seen = 0;
  histogram.for_each_bucket([&](std::int64_t low, std::int64_t high, std::uint64_t count) {
    seen += count;
    out += text("%.3f %.3f %llu %.9f\n", static_cast<double>(low) / kUs,
                static_cast<double>(high) / kUs, static_cast<unsigned long long>(count),
                static_cast<double>(seen) / all);
  });
  if (offered.unanswered() > 0)
    out += text("# %lld without an answer\n", static_cast<long long>(offered.unanswered()));
  return out;
}

nlohmann::json summary(const Measured& measured) {
  const KeyValueStatistics& s = measured.key_value;
  return {{"achieved_per_s", measured.achieved_per_s()},
          {"latency_us", percentiles(measured.latencies(/*from_send=*/false))},
          {"from_send_us", percentiles(measured.latencies(/*from_send=*/true))},
          {"get_latency_us", percentiles(offered_of(measured, s.get, /*from_send=*/false))},
          {"set_latency_us", percentiles(offered_of(measured, s.set, /*from_send=*/false))},
          {"send_late_us", percentiles(Offered(measured.loop.send_late_ns, 0, 0))},
          {"raw", raw_statistics(measured)}};
}

std::string unanswered_note(const Measured& measured) {
  const load::OpenLoopStatistics& loop = measured.loop;
  const std::int64_t unanswered = loop.lost + loop.unsent;
  if (unanswered == 0) return "";
  return text(
      "%lld of %lld requests have no answer (%lld lost, %lld never sent); they count in the "
      "percentiles, with at least the %g s that answers were waited for",
      static_cast<long long>(unanswered), static_cast<long long>(loop.offered),
      static_cast<long long>(loop.lost), static_cast<long long>(loop.unsent),
      static_cast<double>(measured.waited_ns) / 1e9);
}

std::string fault_note(const KeyValueStatistics& all) {
  const auto counted = [](std::int64_t count, const char* what) {
    return count > 0 ? text("%lld %s, ", static_cast<long long>(count), what) : std::string();
  };
  std::string note = counted(all.errors.closed, "connections were closed") +
                     counted(all.silent, "connections had no answer until the end of the drain") +
                     counted(all.errors.of_requests(), "requests were answered with an error");
  if (note.empty()) return note;
  note.resize(note.size() - 2);
  return note +
         "; expected a memcached that runs, and answers all: look at its log, its memory "
         "(-m) and its limit of connections (-c)";
}

}  // namespace turntable::mcload
