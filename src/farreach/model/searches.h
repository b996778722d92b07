// The searches that are tests (docs/kvcache-model.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "farreach/model/search.h"

namespace turntable::model {

struct NamedSearch {
  std::string name;
  bool must_find = false;  // a rule is left out
  bool is_large = false;   // minutes: not among the tests that run each time
  std::function<SearchResult(std::uint64_t max_states)> run;
};

std::vector<NamedSearch> farreach_searches();
std::vector<NamedSearch> netcache_searches();
std::vector<NamedSearch> all_searches();

}  // namespace turntable::model
