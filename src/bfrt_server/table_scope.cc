#include "bfrt_server/table_scope.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using bfrt_proto::Mode;

constexpr std::uint32_t kBothDirections = 0xFF;
constexpr std::uint32_t kAllParsers = 0xFF;
constexpr std::uint32_t kBitsOfScope = 8;

Pipes all_of(std::uint32_t count) {
  Pipes pipes(count);
  std::iota(pipes.begin(), pipes.end(), 0U);
  return pipes;
}

bool is_single(const Mode& mode) {
  return mode.scope_case() == Mode::kPredef && mode.predef() == Mode::SINGLE;
}

bool is_all_predefined(const Mode& mode) {
  return mode.scope_case() != Mode::kUserDefined && mode.predef() == Mode::ALL;
}

// A number of no name reaches us as it was sent.
void check_predefined(const Mode& mode, const std::string& context) {
  if (mode.scope_case() != Mode::kPredef || Mode::PredefinedMode_IsValid(mode.predef())) return;
  throw invalid(context + ": predefined scope " + std::to_string(mode.predef()) +
                "; expected ALL (0) or SINGLE (1);");
}

Failure no_scope_of(std::uint32_t pipe, const std::vector<Pipes>& scopes,
                    const std::string& context) {
  const std::string named = pipe == kAllPipes ? "0xffff" : std::to_string(pipe);
  return invalid(context + ": no scope begins with pipe " + named + "; its scopes are " +
                 Json(scopes).dump() + ": use the lowest pipe of one;");
}

Failure in_all_pipes(const std::string& context) {
  return invalid(context +
                 ": its entries are in all pipes; use pipe 0xffff, or another entry scope;");
}

// A byte for each scope, the first in the lowest: bits of its pipes.
std::uint64_t as_bytes(const std::vector<Pipes>& scopes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < scopes.size(); ++i)
    for (const std::uint32_t pipe : scopes[i])
      value |= std::uint64_t{1} << (i * kBitsOfScope + pipe);
  return value;
}

}  // namespace

void put_pipes(const Pipes& pipes, Json& command) {
  if (!pipes.empty()) command["pipes"] = pipes;
}

TableScope::TableScope(const bfrt::Table& table, PipesShown shown, SwitchLink& link)
    : table_(table), shown_(shown), scopes_{all_of(shown.count)} {
  for (Mode* mode :
       {told_.mutable_gress_scope(), told_.mutable_pipe_scope(), told_.mutable_prsr_scope()})
    mode->set_predef(Mode::ALL);
  if (!shown_.have_states) return;
  scopes_ = link.call("scope_read", {{"table", table.name}}).at("scopes");
  if (scopes_.size() == shown_.count) {
    told_.mutable_pipe_scope()->set_predef(Mode::SINGLE);
  } else if (scopes_ != std::vector<Pipes>{all_of(shown_.count)}) {
    told_.mutable_pipe_scope()->set_user_defined(as_bytes(scopes_));
  }
}

std::vector<Pipes> TableScope::scopes_of(const Mode& mode) const {
  const Pipes all = all_of(shown_.count);
  std::vector<Pipes> scopes;
  if (mode.scope_case() == Mode::kUserDefined) {
    for (std::uint64_t left = mode.user_defined(); left != 0; left >>= kBitsOfScope) {
      Pipes scope;
      for (std::uint32_t pipe = 0; pipe < kBitsOfScope; ++pipe)
        if ((left >> pipe & 1U) != 0) scope.push_back(pipe);
      if (!scope.empty()) scopes.push_back(std::move(scope));
    }
  } else if (is_single(mode)) {
    for (const std::uint32_t pipe : all) scopes.push_back({pipe});
  } else {
    scopes = {all};
  }
  std::ranges::sort(scopes);
  return scopes;
}

// As on an SDE: the pipes' alone, or those of gress, pipes and parsers.
void TableScope::write(const bfrt_proto::EntryScope& scope, SwitchLink& link) {
  const std::string context = "table:" + table_.name;
  const bool all_three =
      scope.has_gress_scope() && scope.has_pipe_scope() && scope.has_prsr_scope();
  const bool pipes_alone =
      !scope.has_gress_scope() && scope.has_pipe_scope() && !scope.has_prsr_scope();
  if (!all_three && !pipes_alone) {
    throw invalid(context +
                  ": Invalid entry_scope. Either only configure pipe_scope or configure all three "
                  "scopes;");
  }
  if (!shown_.have_states &&
      !(is_all_predefined(scope.pipe_scope()) && is_all_predefined(scope.gress_scope()) &&
        is_all_predefined(scope.prsr_scope()))) {
    throw not_supported(context +
                        ": softswitch has one state for all pipes, so its one scope is ALL; start "
                        "softswitch with --pipes;");
  }
  for (const Mode& mode : {scope.gress_scope(), scope.pipe_scope(), scope.prsr_scope()})
    check_predefined(mode, context);
  const std::vector<Pipes> scopes = scopes_of(scope.pipe_scope());
  const std::lock_guard lock(mutex_);
  try {
    if (scopes != scopes_) link.call("scope_write", {{"table", table_.name}, {"scopes", scopes}});
  } catch (const CommandError& error) {
    if (error.code() == "wrong_state") throw not_supported(context + ": " + error.what() + ";");
    throw from_switch(context, error.code(), std::string(error.what()) + ";");
  }
  scopes_ = scopes;
  *told_.mutable_pipe_scope() = scope.pipe_scope();
  if (!all_three) return;
  *told_.mutable_gress_scope() = scope.gress_scope();
  *told_.mutable_prsr_scope() = scope.prsr_scope();
}

bfrt_proto::EntryScope TableScope::read() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

std::vector<Pipes> TableScope::scopes() const {
  const std::lock_guard lock(mutex_);
  return shown_.have_states ? scopes_ : std::vector<Pipes>{Pipes{}};
}

bool TableScope::is_all() const {
  const std::lock_guard lock(mutex_);
  return is_all_predefined(told_.pipe_scope());
}

void TableScope::check_pipe(const bfrt_proto::TargetDevice& target,
                            const std::string& context) const {
  if (target.pipe_id() == kAllPipes || target.pipe_id() < shown_.count) return;
  throw invalid(context + ": pipe " + std::to_string(target.pipe_id()) +
                " is not below the number of pipes, " + std::to_string(shown_.count) + ";");
}

// A pipe's parsers share the entries of a value set, however a client addresses them.
void TableScope::check_parser(const bfrt_proto::TargetDevice& target,
                              const std::string& context) const {
  if (is_single(told_.gress_scope()) && target.direction() == kBothDirections)
    throw invalid(context + ": its entries are of one gress, not of both;");
  if (is_single(told_.prsr_scope()) && target.prsr_id() == kAllParsers)
    throw invalid(context + ": its entries are of one parser, not of all;");
}

std::optional<Pipes> TableScope::named_by(std::uint32_t pipe) const {
  const auto scope =
      std::ranges::find_if(scopes_, [&](const Pipes& each) { return each.front() == pipe; });
  return scope == scopes_.end() ? std::nullopt : std::optional(*scope);
}

Pipes TableScope::of_written_entry(const bfrt_proto::TargetDevice& target,
                                   const std::string& context) const {
  if (!shown_.have_states) return {};
  check_pipe(target, context);
  const bool all = is_all();
  const std::lock_guard lock(mutex_);
  check_parser(target, context);
  if (all && target.pipe_id() == kAllPipes) return {};
  if (all) throw in_all_pipes(context);
  if (auto named = named_by(target.pipe_id())) return *named;
  throw no_scope_of(target.pipe_id(), scopes_, context);
}

std::optional<Pipes> TableScope::of_read_entry(const bfrt_proto::TargetDevice& target,
                                               bool from_hw) const {
  if (!shown_.have_states) return Pipes{};
  const std::uint32_t pipe = target.pipe_id();
  const bool all = is_all();
  const std::lock_guard lock(mutex_);
  if (all && pipe == kAllPipes) return Pipes{};
  if (all) return from_hw && pipe < shown_.count ? std::optional(Pipes{pipe}) : std::nullopt;
  if (!from_hw) return named_by(pipe);
  for (const Pipes& scope : scopes_)
    if (std::ranges::binary_search(scope, pipe)) return scope;
  return std::nullopt;
}

std::optional<Pipes> TableScope::of_read_handle(const bfrt_proto::TargetDevice& target,
                                                bool from_hw, std::uint32_t lowest_pipe) const {
  const std::uint32_t pipe = target.pipe_id();
  const std::lock_guard lock(mutex_);
  auto scope = named_by(lowest_pipe);
  if (!scope || pipe == kAllPipes) return scope;
  if (!from_hw) return pipe == lowest_pipe ? scope : std::nullopt;
  if (std::ranges::binary_search(*scope, pipe)) return scope;
  throw invalid("table:" + table_.name + ": the handle is of an entry in pipes " +
                Json(*scope).dump() + ", not in pipe " + std::to_string(pipe) + ";");
}

Pipes TableScope::of_read_default(const bfrt_proto::TargetDevice& target,
                                  const std::string& context) const {
  if (auto pipes = of_read_entry(target, /*from_hw=*/true)) return *pipes;
  throw invalid(context + ": no default entry is that of pipe " + std::to_string(target.pipe_id()) +
                ";");
}

std::vector<Pipes> TableScope::of_usage(const bfrt_proto::TargetDevice& target,
                                        const std::string& context) const {
  if (!shown_.have_states) return {Pipes{}};
  check_pipe(target, context);
  const bool all = is_all();
  const std::lock_guard lock(mutex_);
  if (target.pipe_id() == kAllPipes) return scopes_;
  if (all) throw in_all_pipes(context);
  const auto named = named_by(target.pipe_id());
  return named ? std::vector<Pipes>{*named} : std::vector<Pipes>{};
}

Pipes TableScope::of_cell(const bfrt_proto::TargetDevice& target,
                          const std::string& context) const {
  check_pipe(target, context);
  if (!shown_.have_states || target.pipe_id() == kAllPipes) return {};
  const bool all = is_all();
  const std::lock_guard lock(mutex_);
  if (all) return {target.pipe_id()};
  if (auto named = named_by(target.pipe_id())) return *named;
  throw no_scope_of(target.pipe_id(), scopes_, context);
}

}  // namespace turntable::bfrt_server
