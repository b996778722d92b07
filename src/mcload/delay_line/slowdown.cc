#include "mcload/delay_line/slowdown.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace turntable::mcload {
namespace {

constexpr std::int64_t kReadAgainNs = 20'000'000;

}  // namespace

std::vector<std::pair<double, double>> Slowdown::read_script(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("script " + path + ": cannot be read");
  std::vector<std::pair<double, double>> script;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line);
    double from_s = 0, factor = 0;
    std::string rest;
    if (words >> from_s >> factor && !(words >> rest) && factor >= 0 &&
        (script.empty() || from_s > script.back().first)) {
      script.emplace_back(from_s, factor);
      continue;
    }
    const std::string where = "script " + path + ", line " + std::to_string(number);
    throw std::invalid_argument(where + ": \"" + line +
                                "\"; expected FROM_S FACTOR, later than the line before");
  }
  return script;
}

double Slowdown::factor(std::int64_t now_ns) {
  const double now_s = static_cast<double>(now_ns - began_ns_) / 1e9;
  const auto next = std::upper_bound(script_.begin(), script_.end(), now_s,
                                     [](double at, const auto& line) { return at < line.first; });
  const double factor = next == script_.begin() ? 1 : std::prev(next)->second;
  if (file_.empty()) return factor;
  if (read_ns_ == 0 || now_ns - read_ns_ >= kReadAgainNs) {
    read_ns_ = now_ns;
    std::ifstream file(file_);
    double number = 0;
    // A file that is being rewritten may be empty for a moment: the number before still holds.
    if (!file) {
      from_file_ = 1;
    } else if (file >> number && number >= 0) {
      from_file_ = number;
    }
  }
  return factor * from_file_;
}

}  // namespace turntable::mcload
