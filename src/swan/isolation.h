// What protects the high-priority job (HP) from the best-effort one (BE): the mechanisms of a cell.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "placement/placement.h"
#include "swan/control_groups.h"
#include "swan/process_settings.h"
#include "swan/resctrl.h"

namespace turntable::swan {

struct IsolationRequest {
  std::string mechanism;
  int be_shares = 2;
  double quota_share = 0.1;  // of the time of BE's processors
  int nice = 19;
  double rt_runtime_share = 0.9;
  int cat_ways = 1;
  int mba_percent = 10;
};

// Of a command's argument: {"mechanism", ["be_shares"], ["quota_share"], ["be_nice"],
// ["rt_runtime_share"], ["cat_ways"], ["mba_percent"]}. Throws CommandError.
IsolationRequest isolation_request(const std::string& where, const nlohmann::json& json);

struct Isolation {
  std::string mechanism;
  ProcessSettings hp, be;
  std::vector<std::string> applied;  // for people
  // A group that holds BE alone and whose processor time the kernel counts; empty: there is none.
  std::optional<std::filesystem::path> be_account;
};

nlohmann::json to_json(const Isolation& isolation);

// Which processors the two are pinned to.
struct Pinning {
  CpuList hp;
  CpuList be;
  bool be_anywhere = false;  // BE is pinned to nothing: `be` is all that there is
};

// Makes the groups of a mechanism. Nothing may be left of an earlier one (ControlGroups::clear,
// Resctrl::clear). Throws CommandError "unsupported" when the machine cannot do it, else as
// code_of_refusal (swan/refusal.h) tells.
//
// HP and BE share a group of the controller cpu, or have one each beside each other, as the
// mechanism needs it; always below the same group, so that neither the autogroup nor the nice of
// whoever started them matters.
Isolation isolate(const IsolationRequest& request, const Pinning& pinning, ControlGroups& groups,
                  Resctrl& resctrl);

}  // namespace turntable::swan
