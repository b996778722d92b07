#include "dataplane/names.h"

#include <algorithm>
#include <numeric>

#include "common/command_error.h"

namespace turntable::dataplane {
namespace {

constexpr std::size_t kSuggestions = 3;

// Levenshtein distance between `wanted` and the last components of `name` that are as many as
// `wanted` has.
std::size_t distance(std::string_view wanted, std::string_view name) {
  const auto dots = std::count(wanted.begin(), wanted.end(), '.');
  std::size_t begin = name.size();
  for (auto left = dots + 1; left > 0 && begin != std::string_view::npos && begin > 0; --left) {
    begin = name.rfind('.', begin - 1);
  }
  if (begin != std::string_view::npos && begin < name.size())
    name.remove_prefix(begin + (begin > 0));

  std::vector<std::size_t> row(name.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= wanted.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= name.size(); ++j) {
      const std::size_t substituted = diagonal + (wanted[i - 1] == name[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

std::vector<std::string> nearest(const std::vector<std::string>& names, std::string_view wanted) {
  std::vector<std::string> sorted = names;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    return distance(wanted, a) < distance(wanted, b);
  });
  if (sorted.size() > kSuggestions) sorted.resize(kSuggestions);
  return sorted;
}

}  // namespace

bool is_dotted_suffix(std::string_view name, std::string_view suffix) {
  if (suffix.empty() || !name.ends_with(suffix)) return false;
  return name.size() == suffix.size() || name[name.size() - suffix.size() - 1] == '.';
}

std::size_t resolve_name(const std::vector<std::string>& names, std::string_view wanted,
                         std::string_view what, std::string_view where) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return i;
    if (is_dotted_suffix(names[i], wanted)) found.push_back(i);
  }
  if (found.size() == 1) return found[0];

  std::string message = std::string(what) + " '" + std::string(wanted) + "' " + std::string(where);
  if (found.size() > 1) {
    std::vector<std::string> candidates;
    candidates.reserve(found.size());
    for (const std::size_t i : found) candidates.push_back(names[i]);
    throw bad_argument(message + " is ambiguous: use one of " + join(candidates));
  }
  message += " does not exist";
  if (names.empty()) throw bad_argument(message + ": there are none");
  throw bad_argument(message + ": near names are " + join(nearest(names, wanted)));
}

}  // namespace turntable::dataplane
