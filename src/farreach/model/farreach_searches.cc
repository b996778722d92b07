#include "farreach/model/farreach_model.h"
#include "farreach/model/searches.h"

namespace turntable::model {
namespace {

using farreach::Model;
using farreach::Rules;

NamedSearch search(std::string name, const Rules& rules, const Bounds& bounds) {
  return {.name = "farreach_" + std::move(name), .run = [rules, bounds](std::uint64_t max_states) {
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

constexpr Byte kA = 0, kB = 1;

// Each finds the hole that the rule closes. A plan makes it quick; without one the same is found.
std::vector<NamedSearch> broken() {
  const Bounds crash{.operations = 2, .crashes = 1, .switch_crashes = 1};
  const Bounds losses{.operations = 3,
                      .plan = {{kA, Does::kPut}, {kA, Does::kLargePut}, {kA, Does::kGet}},
                      .faults = 2,
                      .repeats = false,
                      .crashes = 1,
                      .switch_crashes = 1};
  const Bounds snapshots{.operations = 1,
                         .plan = {{kA, Does::kPut}},
                         .crashes = 1,
                         .switch_crashes = 1,
                         .snapshots = 2};
  return {
      without("epochs_of_snapshots", &Rules::snapshots_keep_to_their_epoch, snapshots),
      without("storing_what_a_get_carries", &Rules::record_is_stored, losses),
      without(
          "token_of_what_a_get_carries", &Rules::record_carries_token,
          {.operations = 4,
           .plan = {{kB, Does::kPut}, {kA, Does::kPut}, {kA, Does::kLargePut}, {kA, Does::kGet}},
           .faults = 1,
           .repeats = false,
           .snapshots = 1,
           .cuts = true}),
      without("fence_for_what_a_get_carries", &Rules::record_is_fenced, losses),
      without("fence_for_writes", &Rules::writes_are_fenced, crash),
      without("fence_for_stores", &Rules::stores_are_fenced,
              {.operations = 2, .faults = 1, .crashes = 1, .switch_crashes = 1, .evictions = 1}),
      without("fence_in_the_store", &Rules::fence_is_kept,
              {.operations = 1, .crashes = 2, .switch_crashes = 1, .server_crashes = 1}),
      without("fence_among_the_numbers", &Rules::fence_counts,
              {.operations = 1, .crashes = 2, .switch_crashes = 2}),
      without("numbers_left_out", &Rules::numbers_are_left_out, crash),
      without("cell_of_a_fill", &Rules::fill_needs_its_cell, {.operations = 2}),
      without("waiting_for_the_rest", &Rules::fills_wait_for_the_rest,
              {.operations = 2, .parts = 1, .admissions = 1, .evictions = 1}),
      without("fence_for_the_rest", &Rules::rest_is_fenced,
              {.operations = 2, .parts = 1, .crashes = 1, .switch_crashes = 1}),
      without("age_of_unlisted_copies", &Rules::unlisted_copies_age, snapshots),
      without("confirmed_lists", &Rules::lists_are_confirmed, snapshots),
      without("copies_of_hits", &Rules::hits_are_copied,
              {.operations = 2, .faults = 1, .crashes = 1, .switch_crashes = 1}),
      without("drained_slots", &Rules::slot_is_drained,
              {.operations = 1, .admissions = 1, .evictions = 1}),
  };
}

}  // namespace

std::vector<NamedSearch> farreach_searches() {
  std::vector<NamedSearch> all = broken();
  const std::vector<NamedSearch> sound = {
      whole("operations", {.operations = 4, .faults = 1}),
      whole("crashes",
            {.operations = 2, .faults = 1, .crashes = 2, .switch_crashes = 2, .server_crashes = 1}),
      whole("snapshots_and_a_crash",
            {.operations = 2, .crashes = 1, .switch_crashes = 1, .snapshots = 2}),
      whole("evictions_and_crashes", {.operations = 2,
                                      .crashes = 2,
                                      .switch_crashes = 1,
                                      .server_crashes = 1,
                                      .agent_crashes = 1,
                                      .controller_crashes = 1,
                                      .admissions = 1,
                                      .evictions = 1}),
      whole("cuts", {.operations = 2,
                     .repeats = false,
                     .admissions = 1,
                     .evictions = 1,
                     .snapshots = 1,
                     .cuts = true}),
      whole("parts", {.operations = 3, .parts = 2, .admissions = 1, .evictions = 1}),
      whole("parts_and_crashes", {.operations = 2,
                                  .parts = 1,
                                  .crashes = 2,
                                  .switch_crashes = 1,
                                  .server_crashes = 1,
                                  .agent_crashes = 1,
                                  .controller_crashes = 1,
                                  .admissions = 1,
                                  .evictions = 1}),
      whole("parts_and_cuts", {.operations = 2,
                               .repeats = false,
                               .parts = 1,
                               .admissions = 1,
                               .evictions = 1,
                               .snapshots = 1,
                               .cuts = true}),
      large("more_operations", {.operations = 4, .faults = 2}),
      large("operations_and_evictions",
            {.operations = 4, .faults = 1, .repeats = false, .admissions = 1, .evictions = 1}),
      large("faults_and_evictions",
            {.operations = 3, .faults = 2, .admissions = 1, .evictions = 1}),
      large("two_evictions", {.operations = 3, .faults = 1, .admissions = 2, .evictions = 2}),
      large("losses_and_switch_crashes",
            {.operations = 3, .faults = 2, .repeats = false, .crashes = 2, .switch_crashes = 2}),
      large("two_crashes_of_any", {.operations = 2,
                                   .faults = 1,
                                   .crashes = 2,
                                   .switch_crashes = 1,
                                   .server_crashes = 1,
                                   .agent_crashes = 1,
                                   .controller_crashes = 1,
                                   .admissions = 1,
                                   .evictions = 1}),
      large("snapshots_evictions_and_a_crash", {.operations = 2,
                                                .crashes = 1,
                                                .switch_crashes = 1,
                                                .agent_crashes = 1,
                                                .controller_crashes = 1,
                                                .admissions = 1,
                                                .evictions = 1,
                                                .snapshots = 2}),
      large("cuts_of_three_operations", {.operations = 3,
                                         .repeats = false,
                                         .admissions = 1,
                                         .evictions = 1,
                                         .snapshots = 1,
                                         .cuts = true}),
      large("parts_and_faults",
            {.operations = 3, .faults = 1, .parts = 2, .admissions = 1, .evictions = 1}),
      large("parts_and_two_switch_crashes", {.operations = 2,
                                             .faults = 1,
                                             .parts = 2,
                                             .crashes = 2,
                                             .switch_crashes = 2,
                                             .server_crashes = 1}),
      large("parts_of_three_operations_and_a_crash", {.operations = 3,
                                                      .repeats = false,
                                                      .parts = 1,
                                                      .crashes = 1,
                                                      .switch_crashes = 1,
                                                      .server_crashes = 1,
                                                      .admissions = 1,
                                                      .evictions = 1}),
      large("parts_a_snapshot_and_two_crashes", {.operations = 2,
                                                 .parts = 1,
                                                 .crashes = 2,
                                                 .switch_crashes = 1,
                                                 .server_crashes = 1,
                                                 .admissions = 1,
                                                 .evictions = 1,
                                                 .snapshots = 1}),
      large("parts_two_snapshots_and_a_crash",
            {.operations = 2, .parts = 1, .crashes = 1, .switch_crashes = 1, .snapshots = 2}),
      large("parts_and_cuts_of_three_operations", {.operations = 3,
                                                   .repeats = false,
                                                   .parts = 1,
                                                   .admissions = 1,
                                                   .evictions = 1,
                                                   .snapshots = 1,
                                                   .cuts = true}),
  };
  all.insert(all.end(), sound.begin(), sound.end());
  return all;
}

}  // namespace turntable::model
