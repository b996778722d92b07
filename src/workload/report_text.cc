#include <cstdarg>
#include <cstdio>
#include <numeric>

#include "workload/report.h"

namespace turntable::workload {
namespace {

[[gnu::format(printf, 2, 3)]] void print(std::string& text, const char* format, ...) {
  char line[256];
  std::va_list arguments;
  va_start(arguments, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is one line up
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

// Four significant digits, as in the papers: 11.10, 104.0; "-" where there is no number.
std::string ratio(const std::optional<double>& number) {
  if (!number) return "-";
  char text[32];
  const int decimals = *number < 10 ? 3 : *number < 100 ? 2 : 1;
  std::snprintf(text, sizeof text, "%.*f", decimals, *number);
  return text;
}

void print_heading(std::string& text, const Report& report) {
  const Workload& w = report.workload;
  print(text, "%s: %s", w.name.c_str(), std::string(distribution_name(w.distribution)).c_str());
  if (w.distribution == Distribution::kZipfian || w.distribution == Distribution::kLatest) {
    print(text, " with theta %g", w.theta);
  }
  print(text, ", %llu records; %llu hottest keys cached\n",
        static_cast<unsigned long long>(w.records),
        static_cast<unsigned long long>(report.cached_keys));
}

void print_balances(std::string& text, const std::vector<ScaleAnalysis>& scales) {
  print(text, "%44s | %s\n", "without cache", "with cache");
  print(text, "%8s %10s %7s %10s %9s | %8s %10s %10s %9s\n", "servers", "bottleneck", "share",
        "normalized", "imbalance", "hit mass", "bottleneck", "normalized", "imbalance");
  for (const ScaleAnalysis& a : scales) {
    print(text, "%8u %10u %5.2f %% %9s %9s | %6.2f %% %10u %10s %9s\n", a.scale,
          a.uncached.bottleneck, 100 * a.uncached.shares[a.uncached.bottleneck],
          ratio(a.uncached.normalized).c_str(), ratio(a.uncached.imbalance).c_str(),
          100 * a.hit_mass, a.cached.bottleneck, ratio(a.cached.normalized).c_str(),
          ratio(a.cached.imbalance).c_str());
  }
}

void print_near_ties(std::string& text, const ScaleAnalysis& a) {
  if (a.near_ties.empty()) return;
  print(text, "  near ties with partition %u (%.4f %%):", a.uncached.bottleneck,
        100 * a.uncached.shares[a.uncached.bottleneck]);
  for (const NearTie& tie : a.near_ties)
    print(text, " %u (%.4f %%)", tie.partition, 100 * tie.share);
  text += "\n";
}

void print_shares(std::string& text, const ScaleAnalysis& a) {
  constexpr unsigned kPerLine = 16;
  print(text, "\nshares of the %u partitions in %%\n", a.scale);
  for (unsigned i = 0; i < a.scale; ++i) {
    if (i % kPerLine == 0) print(text, "%6u:", i);
    print(text, " %5.*f", a.scale <= 32 ? 2 : 3, 100 * a.uncached.shares[i]);
    if (i % kPerLine == kPerLine - 1 || i == a.scale - 1) text += "\n";
  }
  print_near_ties(text, a);
}

void print_composition(std::string& text, const TraceComposition& composition,
                       const ScaleAnalysis& a) {
  const auto reads = per_partition(composition.reads, a.scale);
  const auto writes = per_partition(composition.writes, a.scale);
  const auto hits = per_partition(composition.cached, a.scale);
  const auto distinct = per_partition(composition.distinct_keys, a.scale);
  print(text, "\ncomposition of the traces at %u servers\n", a.scale);
  print(text, "%9s %11s %11s %11s %9s %15s %13s\n", "partition", "reads", "writes", "total",
        "share", "cached requests", "distinct keys");
  for (unsigned i = 0; i < a.scale; ++i) {
    print(text, "%9u %11.0f %11.0f %11.0f %7.3f %% %15.0f %13.0f\n", i, reads[i], writes[i],
          reads[i] + writes[i], 100 * a.uncached.shares[i], hits[i], distinct[i]);
  }
}

void print_trace(std::string& text, const Report& report) {
  const TraceReport& trace = *report.trace;
  print(text, "\ntraces of %u clients, %llu requests in all, seed %llu, round %u (%.2f s)\n",
        report.workload.clients, static_cast<unsigned long long>(report.workload.operations),
        static_cast<unsigned long long>(report.workload.seed), report.workload.round,
        trace.seconds);
  print_balances(text, trace.scales);
  for (const ScaleAnalysis& a : trace.scales) print_composition(text, trace.composition, a);
}

}  // namespace

std::string report_as_text(const Report& report) {
  std::string text;
  print_heading(text, report);
  print(text, "\nprediction for an infinite sample (%.2f s)\n", report.seconds);
  print_balances(text, report.scales);
  for (const ScaleAnalysis& a : report.scales) print_shares(text, a);
  if (report.trace) print_trace(text, report);
  return text;
}

}  // namespace turntable::workload
