// Steps in words.
#include "farreach/model/farreach_rack.h"
#include "farreach/model/words.h"

namespace turntable::model::farreach {
namespace {

using What = Step::What;

std::string slot_text(const State& s) {
  if (s.slot.valid == 0) return "slot off";
  std::string text;
  switch (static_cast<Cell>(s.slot.cell)) {
    case Cell::kLatest:
      text = "LATEST " + name_of(s.slot.record);
      break;
    case Cell::kAdmitted:
      text = "ADMITTED " + std::to_string(s.slot.epoch);
      break;
    default:
      text = s.slot.record.number == 0 ? "SUPERSEDED" : "SUPERSEDED " + name_of(s.slot.record);
  }
  return "slot " + text + (s.slot.valid == 3 ? ", being evicted" : "");
}

std::string packet_text(const ToServer& packet) {
  switch (static_cast<Form>(packet.form)) {
    case Form::kGet:
      return "GET";
    case Form::kGetForFill:
      return "GET for a fill of epoch " + std::to_string(packet.record.number);
    case Form::kGetWithRecord:
      return "GET that carries " + name_of(packet.record) +
             (packet.token != 0 ? ", token " + std::to_string(packet.token) : "");
    default:
      return "write " + name_of(packet.record) +
             (packet.token != 0 ? ", token " + std::to_string(packet.token) : "");
  }
}

// What the data plane did with a packet of `key`.
std::string passed_text(const State& before, const State& after, const Step& step) {
  const auto& link = after.links[step.key];
  std::string text = slot_text(after);
  if (after.queues[step.key].size() > before.queues[step.key].size()) return "waits in the queue";
  if (link.size() > before.links[step.key].size()) {
    text = "to the server: " + packet_text(link.items[link.size() - 1]) + "; " + text;
  } else if (step.loses == Loses::kWrite) {
    text = "to the server, but IS LOST; " + text;
  } else if (step.loses == Loses::kAnswer) {
    text = "answered, but the answer IS LOST; " + text;
  } else if (!after.clients[step.client].busy) {
    text = "answered; " + text;
  }
  if (after.copies.size() > before.copies.size()) text += "; A COPY STAYS IN THE NETWORK";
  return text;
}

std::string served_text(const State& before, const State& after, const Step& step,
                        const ToServer& packet) {
  const std::string end = step.loses == Loses::kAnswer ? "; the answer IS LOST"
                          : before.clients[packet.client].busy && !after.clients[packet.client].busy
                              ? "; answered"
                              : "";
  return packet_text(packet) + " of " + key_name(step.key) + "; it has " +
         name_of(after.stores[step.key]) + end;
}

std::string agent_text(const State& before, const State& after) {
  const std::string key =
      key_name(after.agent == Agent::kIdle ? before.agent_key : after.agent_key);
  switch (after.agent) {
    case Agent::kInsert:
      return "begins the admission of " + key + ", epoch " + std::to_string(after.epoch);
    case Agent::kMakeValid:
      return "puts " + key + " into cache_lookup";
    case Agent::kLoad:
      return "begins the eviction of " + key + ": SET_VALID 3";
    case Agent::kStore:
      return "LOADs and sends STORE " + key + " " + name_of(after.store);
    case Agent::kMakeInvalid:
      return before.agent == Agent::kStore ? "STORE " + key + " is applied"
                                           : "LOADs " + key + ": nothing to store";
    case Agent::kRemove:
      return "SET_VALID 0 for " + key;
    case Agent::kDrain:
      return "takes " + key + " from cache_lookup";
    default:
      return before.agent == Agent::kMakeValid ? "SET_VALID 1 for " + key : "the slot is free";
  }
}

std::string snapshot_text(const State& before, const State& after, Byte detail) {
  const std::string id = "snapshot " + std::to_string(after.snapshot) + ": ";
  if (detail == 1) return id + "the controller sends BEGIN";
  if (detail == 3) {
    return id + "LOAD of " + key_name(before.place - 1U) + ": " +
           (after.has_cut ? name_of(after.cut) : "no record");
  }
  if (detail == 4) return id + "START reaches the server";
  switch (before.leading) {
    case Leading::kBegin:
      return id + "the agent answers BEGIN" +
             (after.place == 0 ? ", no key has a slot"
                               : ", " + key_name(after.place - 1U) + " has the slot");
    case Leading::kPoint:
      return id + "POINT";
    case Leading::kFinish:
      return id +
             (after.leading == Leading::kSave ? "the agent answers FINISH" : "the flag goes off");
    default:
      return id + "saved (" +
             (after.file_key == 0 ? "no record"
                                  : key_name(after.file_key - 1U) + " " + name_of(after.file)) +
             "), RELEASE_COPIES sent";
  }
}

std::string recovery_text(const State& before, const State& after, const Step& step) {
  switch (before.recovery) {
    case Recovery::kNone:
      return "begins";
    case Recovery::kCollect:
      return "collects the copies of " + client_name(step.client);
    case Recovery::kReplay:
      return "REPLAY; the server has A " + name_of(after.stores[0]) + ", B " +
             name_of(after.stores[1]);
    case Recovery::kLargest:
      return "largest number " + std::to_string(after.largest);
    case Recovery::kFence:
      return "FENCE and SET_NUMBERS " + std::to_string(after.numbers[0]);
    case Recovery::kFetch:
      return "fetches " + key_name(after.restored_key) + " " + name_of(after.fetched);
    default:
      return "RESTORE of " + key_name(before.restored_key) + "; the switch forwards; " +
             slot_text(after);
  }
}

}  // namespace

std::string Model::text(const State& before, Step step, const State& after) const {
  const std::string client = client_name(step.client);
  switch (step.what) {
    case What::kInvoke:
      return client + ": " + operation_name(step.detail, step.key) + ": " +
             passed_text(before, after, step);
    case What::kRetry:
      return client + " sends " + operation_name(step.detail, step.key) +
             " again: " + passed_text(before, after, step);
    case What::kGiveUp:
      return client + " gives up, another takes its place";
    case What::kArrive:
      return "the copy of " + operation_name(step.detail, step.key) +
             " arrives: " + passed_text(before, after, step);
    case What::kLeaveQueue:
      return "switch: the packet that waited for " + key_name(step.key) + ": " +
             passed_text(before, after, step);
    case What::kServe:
      if (step.detail != 0) {
        return "server: the first part of " + packet_text(before.links[step.key].front()) + " of " +
               key_name(step.key) + "; THE REST IS LATE";
      }
      return "server: " + served_text(before, after, step, before.links[step.key].front());
    case What::kRest:
      return "server: the rest of " +
             served_text(before, after, step, before.partial[step.key].items[step.detail]);
    case What::kForget:
      return "server: gives up " + packet_text(before.partial[step.key].items[step.detail]) +
             " of " + key_name(step.key) + ", whose rest has not come";
    case What::kFill:
      return "switch: the answer for a fill of epoch " +
             std::to_string(before.fills[step.key].front().epoch) + ": " +
             passed_text(before, after, step);
    case What::kAgent:
      return step.detail == 1 ? "an abandoned STORE of " + key_name(step.key) + " is applied"
                              : "agent: " + agent_text(before, after);
    case What::kSnapshot:
      return snapshot_text(before, after, step.detail);
    case What::kList:
      return client + " takes a list of released copies";
    case What::kCrashSwitch:
      return "THE SWITCH CRASHES and is started again; configure fresh";
    case What::kCrashServer:
      return "THE SERVER CRASHES";
    case What::kStartServer:
      return std::string("the server starts; what was on its way ") +
             (step.detail != 0 ? "arrives later" : "is lost");
    case What::kCrashAgent:
      return "THE AGENT CRASHES and starts again";
    case What::kCrashController:
      return "THE CONTROLLER CRASHES and starts again";
    default:
      return "recover: " + recovery_text(before, after, step);
  }
}

}  // namespace turntable::model::farreach
