#include "placement/cpu_list.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "common/command_error.h"

namespace turntable {
namespace {

constexpr int kMostCpus = 1 << 16;

bool parse_number(const std::string& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 &&
         number < kMostCpus;
}

bool parse_range(const std::string& part, int& first, int& last) {
  const std::size_t dash = part.find('-');
  if (!parse_number(part.substr(0, dash), first)) return false;
  if (dash == std::string::npos) {
    last = first;
    return true;
  }
  return parse_number(part.substr(dash + 1), last) && first <= last;
}

}  // namespace

CpuList parse_cpu_list(const std::string& where, const std::string& text) {
  std::set<int> cpus;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0;
    int last = 0;
    if (!parse_range(part, first, last)) {
      throw bad_argument(where + " is \"" + text + "\"; expected processors such as \"0-2,5\"");
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
  }
  return {cpus.begin(), cpus.end()};
}

std::string cpu_list_text(const CpuList& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (end - i > 1) text.append("-").append(std::to_string(cpus[end - 1]));
    i = end;
  }
  return text;
}

CpuList allowed_cpus() {
  CpuList cpus;
  cpu_set_t* const set = CPU_ALLOC(kMostCpus);
  const std::size_t size = CPU_ALLOC_SIZE(kMostCpus);
  CPU_ZERO_S(size, set);
  if (::sched_getaffinity(0, size, set) == 0) {
    for (int cpu = 0; cpu < kMostCpus; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) cpus.push_back(cpu);
  }
  CPU_FREE(set);
  return cpus;
}

bool contains(const CpuList& cpus, int cpu) {
  return std::binary_search(cpus.begin(), cpus.end(), cpu);
}

CpuList without(const CpuList& cpus, const CpuList& others) {
  CpuList left;
  std::set_difference(cpus.begin(), cpus.end(), others.begin(), others.end(),
                      std::back_inserter(left));
  return left;
}

}  // namespace turntable
