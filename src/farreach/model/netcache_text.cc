// Steps in words.
#include "farreach/model/netcache_rack.h"
#include "farreach/model/words.h"

namespace turntable::model::netcache {
namespace {

using What = Step::What;

std::string slot_text(const State& s) {
  if (!s.slot.valid) return "slot off";
  return s.slot.is_latest ? "slot LATEST " + name_of(s.slot.record)
                          : "slot SUPERSEDED #" + std::to_string(s.slot.record.number);
}

std::string packet_text(const ToServer& packet) {
  if (static_cast<Form>(packet.form) == Form::kGet) return "GET";
  return std::string(static_cast<Form>(packet.form) == Form::kWriteOfCached ? "cached"
                                                                            : "uncached") +
         " write " + name_of(packet.record);
}

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
  } else if (step.what != What::kUpdate && !after.clients[step.client].busy) {
    text = "answered; " + text;
  }
  if (after.copies.size() > before.copies.size()) text += "; A COPY STAYS IN THE NETWORK";
  return text;
}

std::string message_text(const Message& message) {
  const std::string key = key_name(message.key);
  const std::string id = " " + std::to_string(message.id);
  switch (message.type) {
    case Type::kFetch:
      return "FETCH " + key + ", marked";
    case Type::kSettled:
      return "SETTLED " + key + ", admission" + id + ", number " + std::to_string(message.number);
    case Type::kEvicted:
      return "EVICTED " + key + ", admission" + id;
    case Type::kEvictAnswer:
      return "the answer to EVICT " + key + ", admission" + id;
    default:
      return "the answer to HELLO: " +
             (message.key == 0 ? "nothing is cached" : key_name(message.key - 1U) + " is cached");
  }
}

std::string agent_text(const State& before, const State& after, const Step& step) {
  const std::string key = key_name(step.detail == 0 ? before.agent_key : step.key);
  if (step.detail == 1) {
    return "ADMIT " + key + " " + name_of(before.admissions[step.key].record) +
           (after.agent == Agent::kIdle ? ": has its slot already"
                                        : ": admission " + std::to_string(after.slot_id));
  }
  if (step.detail == 2) return "EVICT " + key + ": it has no slot";
  if (step.detail == 3) return "evicts " + key + ": SET_VALID 0, EVICTED";
  switch (before.agent) {
    case Agent::kInsert:
      return "puts " + key + " into cache_lookup";
    case Agent::kMakeValid:
      return "SET_VALID 1 for " + key + "; " + slot_text(after);
    case Agent::kRemove:
      return "takes " + key + " from cache_lookup";
    default:
      return "the slot is free";
  }
}

std::string recovery_text(const State& before, const State& after) {
  switch (before.recovery) {
    case Recovery::kNone:
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

std::string served_text(const State& before, const State& after, const Step& step,
                        const ToServer& packet) {
  const bool is_answered = before.clients[packet.client].busy && !after.clients[packet.client].busy;
  return packet_text(packet) + " of " + key_name(step.key) + "; it has " +
         name_of(after.stores[step.key]) +
         (step.loses == Loses::kAnswer ? "; the answer IS LOST"
          : is_answered                ? "; answered"
                                       : "");
}

}  // namespace

std::string Model::text(const State& before, Step step, const State& after) const {
  const std::string client = client_name(step.client);
  const std::string key = key_name(step.key);
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
      return "switch: the packet that waited for " + key + ": " + passed_text(before, after, step);
    case What::kServe:
      if (step.detail != 0) {
        return "server: the first part of " + packet_text(before.links[step.key].front()) + " of " +
               key + "; THE REST IS LATE";
      }
      return "server: " + served_text(before, after, step, before.links[step.key].front());
    case What::kRest:
      return "server: the rest of " +
             served_text(before, after, step, before.partial[step.key].items[step.detail]);
    case What::kForget:
      return "server: gives up " + packet_text(before.partial[step.key].items[step.detail]) +
             " of " + key + ", whose rest has not come";
    case What::kAskEviction:
      return "server: " +
             (step.detail == 0
                  ? packet_text(before.links[step.key].front())
                  : "the rest of " +
                        packet_text(before.partial[step.key].items[step.detail - 1U])) +
             " of " + key + " waits: EVICT sent";
    case What::kUpdate:
      return "switch: the value update " + name_of(before.updates[step.key].front()) + " of " +
             key + (step.detail != 0 ? " (it will come again): " : ": ") +
             passed_text(before, after, step);
    case What::kHot:
      return "agent: HOT " + key + "; the controller sends FETCH";
    case What::kMessage:
      return "server: " + message_text(before.messages.front()) +
             (step.detail != 0 ? "; THE CONNECTION BREAKS before its answer" : "");
    case What::kHello:
      return "controller: answers HELLO";
    case What::kAgent:
      return "agent: " + agent_text(before, after, step);
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
      return "recover: " + recovery_text(before, after);
  }
}

}  // namespace turntable::model::netcache
