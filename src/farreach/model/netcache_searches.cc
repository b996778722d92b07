#include "farreach/model/netcache_model.h"
#include "farreach/model/searches.h"

namespace turntable::model {
namespace {

using netcache::Model;
using netcache::Rules;

NamedSearch search(std::string name, const Rules& rules, const Bounds& bounds) {
  return {.name = "netcache_" + std::move(name), .run = [rules, bounds](std::uint64_t max_states) {
            const Model model(rules, bounds);
            return Search<Model>(model).run(max_states);
          }};
}

NamedSearch whole(std::string name, const Bounds& bounds) {
  return search(std::move(name), Rules(), bounds);
}

NamedSearch large(std::string name, const Bounds& bounds) {
  NamedSearch result = whole(std::move(name), bounds);
  result.is_large = true;
  return result;
}

NamedSearch without(std::string name, bool Rules::*rule, const Bounds& bounds) {
  Rules rules;
  rules.*rule = false;
  NamedSearch result = search("without_" + std::move(name), rules, bounds);
  result.must_find = true;
  return result;
}

// Each finds the hole that the rule closes.
std::vector<NamedSearch> broken() {
  const Bounds admission{.operations = 1, .admissions = 1};
  const Bounds restart{.operations = 1, .crashes = 1, .server_crashes = 1, .admissions = 1};
  const Bounds crash{.operations = 2, .crashes = 1, .switch_crashes = 1};
  return {
      without("waiting_of_a_new_server", &Rules::new_server_waits, restart),
      without("end_of_open_admissions", &Rules::open_admissions_end_first, restart),
      without("end_of_admissions_with_their_controller", &Rules::admissions_end_with_controller,
              {.operations = 1, .crashes = 1, .controller_crashes = 1, .admissions = 1}),
      without("number_of_an_update", &Rules::update_needs_its_number,
              {.operations = 2, .admissions = 1}),
      without("marks", &Rules::marks_hold_writes, admission),
      without("eviction_for_early_writes", &Rules::early_writes_wait, admission),
      without("waiting_of_whole_writes", &Rules::whole_writes_wait,
              {.operations = 1, .parts = 1, .admissions = 1}),
      without("number_of_an_admission", &Rules::late_writes_are_early,
              {.operations = 1, .admissions = 2, .evictions = 1}),
      without("drained_slots", &Rules::slot_is_drained,
              {.operations = 2, .admissions = 2, .evictions = 1}),
      without("fence_for_writes", &Rules::writes_are_fenced, crash),
      without("fence_for_the_rest", &Rules::rest_is_fenced,
              {.operations = 2, .parts = 1, .crashes = 1, .switch_crashes = 1}),
      without("fence_in_the_store", &Rules::fence_is_kept,
              {.operations = 1, .crashes = 2, .switch_crashes = 1, .server_crashes = 1}),
      without("fence_among_the_numbers", &Rules::fence_counts,
              {.operations = 1, .crashes = 2, .switch_crashes = 2}),
      without("numbers_left_out", &Rules::numbers_are_left_out, crash),
  };
}

}  // namespace

std::vector<NamedSearch> netcache_searches() {
  std::vector<NamedSearch> all = broken();
  const std::vector<NamedSearch> sound = {
      whole("operations", {.operations = 3, .faults = 1, .repeats = false, .admissions = 1}),
      whole("admissions", {.operations = 2, .faults = 1, .admissions = 2, .evictions = 1}),
      whole("crashes_of_server_and_controller", {.operations = 1,
                                                 .crashes = 2,
                                                 .server_crashes = 2,
                                                 .controller_crashes = 1,
                                                 .admissions = 2}),
      whole("crashes_of_switch_and_agent", {.operations = 2,
                                            .repeats = false,
                                            .crashes = 1,
                                            .switch_crashes = 1,
                                            .agent_crashes = 1,
                                            .admissions = 1,
                                            .evictions = 1}),
      whole("parts", {.operations = 2, .parts = 1, .admissions = 1, .evictions = 1}),
      whole("parts_and_crashes", {.operations = 2,
                                  .repeats = false,
                                  .parts = 1,
                                  .crashes = 1,
                                  .switch_crashes = 1,
                                  .server_crashes = 1,
                                  .agent_crashes = 1,
                                  .controller_crashes = 1,
                                  .admissions = 1,
                                  .evictions = 1}),
      large("more_admissions",
            {.operations = 3, .faults = 1, .repeats = false, .admissions = 2, .evictions = 1}),
      large("crashes_and_repeats", {.operations = 2,
                                    .faults = 1,
                                    .crashes = 1,
                                    .server_crashes = 1,
                                    .controller_crashes = 1,
                                    .admissions = 2}),
      large("two_crashes_of_any", {.operations = 1,
                                   .crashes = 2,
                                   .switch_crashes = 1,
                                   .server_crashes = 1,
                                   .agent_crashes = 1,
                                   .controller_crashes = 1,
                                   .admissions = 2,
                                   .evictions = 1}),
      large("two_crashes_around_servers", {.operations = 2,
                                           .repeats = false,
                                           .crashes = 2,
                                           .server_crashes = 2,
                                           .agent_crashes = 1,
                                           .controller_crashes = 1,
                                           .admissions = 2}),
      large("parts_of_three_operations",
            {.operations = 3, .parts = 2, .admissions = 1, .evictions = 1}),
      large("parts_and_faults",
            {.operations = 2, .faults = 1, .parts = 1, .admissions = 2, .evictions = 1}),
      large("parts_and_two_crashes", {.operations = 1,
                                      .parts = 1,
                                      .crashes = 2,
                                      .switch_crashes = 1,
                                      .server_crashes = 1,
                                      .agent_crashes = 1,
                                      .controller_crashes = 1,
                                      .admissions = 2,
                                      .evictions = 1}),
  };
  all.insert(all.end(), sound.begin(), sound.end());
  return all;
}

std::vector<NamedSearch> all_searches() {
  std::vector<NamedSearch> all = farreach_searches();
  const std::vector<NamedSearch> more = netcache_searches();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace turntable::model
