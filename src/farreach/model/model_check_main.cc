// model-check: runs searches of the protocol models (docs/kvcache-model.md) and prints what they
// found.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

#include "common/command_line.h"
#include "farreach/model/searches.h"

namespace {

using turntable::model::NamedSearch;
using turntable::model::SearchResult;

// Whether it found what it must.
bool run(const NamedSearch& search, std::uint64_t max_states, bool tells) {
  const auto began = std::chrono::steady_clock::now();
  const SearchResult result = search.run(max_states);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  const bool is_well =
      search.must_find ? !result.violation.empty() : result.violation.empty() && result.is_whole;
  const char* end = !result.violation.empty() ? "violation" : result.is_whole ? "whole" : "CUT OFF";
  std::printf("%-4s %-45s %11llu states, depth %3u, %6.1f s, %s\n", is_well ? "ok" : "BAD",
              search.name.c_str(), static_cast<unsigned long long>(result.states), result.depth,
              seconds.count(), end);
  if (!result.violation.empty() && (tells || !is_well)) {
    for (const std::string& step : result.trace) std::printf("       %s\n", step.c_str());
    std::printf("       => %s\n", result.violation.c_str());
  }
  std::fflush(stdout);
  return is_well;
}

}  // namespace

int main(int argc, char** argv) try {
  turntable::CommandLine app(
      "model-check",
      "Searches the models of FarReach and NetCache for a lost write or an old read");
  std::vector<std::string> names;
  bool large = false, tells = false;
  std::uint64_t max_states = 200'000'000;
  app.add_option("NAME", names,
                 "Searches to run, by a part of their names (default: all small ones)");
  app.footer(
      "Exit status: 0 each search ended as expected (a violation where a rule is off), 1 one did "
      "not, 2 nothing was searched.");
  app.add_flag("--large", large, "The large ones, too");
  app.add_flag("--traces", tells, "Print the counterexamples that are expected");
  app.add_option("--max-states", max_states, "Cut each search off there")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  bool is_well = true;
  std::size_t done = 0;
  for (const NamedSearch& search : turntable::model::all_searches()) {
    const bool is_named = std::any_of(names.begin(), names.end(), [&](const std::string& part) {
      return search.name.find(part) != std::string::npos;
    });
    if (names.empty() ? search.is_large && !large : !is_named) continue;
    is_well = run(search, max_states, tells) && is_well;
    ++done;
  }
  if (done == 0) {
    std::fprintf(stderr,
                 "model-check: no search has such a name; without names all small ones run\n");
    return 2;
  }
  return is_well ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "model-check: %s\n", error.what());
  return 2;
}
