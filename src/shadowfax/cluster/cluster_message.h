// What servers, clients and the metadata service ask each other, in src/messages' frames, once both
// ends have proven that they know the secret.
//
//   to the metadata service            every answer: the state, or {"refused": why}
//     GET       {}
//     ENROL     {server, incarnation, replaces, address, ports, peer_port}   incarnation: of the
//               process, not empty; replaces: the one that is noted, empty where none is
//     BEGIN     {id, incarnation, first, last, source, target, receives_from}   id: the next one
//               indirection: true; else false
//     OWN, RESOLVED   {id, incarnation}
//     CANCEL    {id}; source, incarnation: only if it is this server's
//     COMPLETE  {id, incarnation}; begin, until: it is unresolved
//
//   to a server                        every answer: what is said, or {"refused": why}
//     MIGRATE   {id, first, last, target}   move a range to another server: {id}; id: the next one;
//               if it is there, sample_s: for so long its hot keys are sought first; indirection
//     PREPARE   {}                     how a target begins: {receives_from, index_bits,
//               most_value_bytes}
//     STAGE     {id} and records       what is hot, before the target owns it: {}
//     RECORDS   {id} and records       {incarnation}: of the target
//     FINISH    {id, incarnation}      all have been sent to this incarnation: {}
//               begin, until: but for what it points to in the source's log
//     FETCH     {begin} and questions  what keys have in this server's log, which began there when
//               others were pointed into it: {} and answers (server/fetched_record.h)
//     PULL      {id, first, last, begin, until, sequence}   the records of a range in it, below
//               `until`, the newest first: {is_last} and records, or none where none were found
//               soon. sequence: of the questions, from 0
//     RESOLVE   {}                     pull what this server points to in logs of others: {}
//     STATUS    {}                     what the server does
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "messages/message.h"

namespace turntable::shadowfax {

enum class ClusterMessageType : std::uint8_t {
  kHello = 1,
  kGet,
  kEnrol,
  kBegin,
  kOwn,
  kComplete,
  kCancel,
  kMigrate,
  kPrepare,
  kStage,
  kRecords,
  kFinish,
  kStatus,
  kFetch,
  kPull,
  kResolve,
  kResolved
};

struct ClusterMessage {
  ClusterMessageType type{};
  bool is_answer = false;
  std::uint32_t id = 0;
  std::string json = "{}";
  std::vector<std::uint8_t> records;
};

inline const char* name_of(ClusterMessageType type) {
  switch (type) {
    case ClusterMessageType::kHello:
      return "HELLO";
    case ClusterMessageType::kGet:
      return "GET";
    case ClusterMessageType::kEnrol:
      return "ENROL";
    case ClusterMessageType::kBegin:
      return "BEGIN";
    case ClusterMessageType::kOwn:
      return "OWN";
    case ClusterMessageType::kComplete:
      return "COMPLETE";
    case ClusterMessageType::kCancel:
      return "CANCEL";
    case ClusterMessageType::kMigrate:
      return "MIGRATE";
    case ClusterMessageType::kPrepare:
      return "PREPARE";
    case ClusterMessageType::kStage:
      return "STAGE";
    case ClusterMessageType::kRecords:
      return "RECORDS";
    case ClusterMessageType::kFinish:
      return "FINISH";
    case ClusterMessageType::kStatus:
      return "STATUS";
    case ClusterMessageType::kFetch:
      return "FETCH";
    case ClusterMessageType::kPull:
      return "PULL";
    case ClusterMessageType::kResolve:
      return "RESOLVE";
    case ClusterMessageType::kResolved:
      return "RESOLVED";
    default:
      return nullptr;
  }
}

inline bool is_refusal(const ClusterMessage& /*answer*/) {
  return false;
}

inline void write_body(const ClusterMessage& message, ByteWriter& to) {
  const std::string& json = message.json;
  to.number(static_cast<std::uint32_t>(json.size()));
  to.bytes(std::span(reinterpret_cast<const std::uint8_t*>(json.data()), json.size()));
  to.number(static_cast<std::uint32_t>(message.records.size()));
  to.bytes(message.records);
}

inline void read_body(ByteReader& from, ClusterMessage& message) {
  const auto json = from.take(from.number<std::uint32_t>());
  message.json.assign(json.begin(), json.end());
  const auto records = from.take(from.number<std::uint32_t>());
  message.records.assign(records.begin(), records.end());
}

static_assert(messages::Message<ClusterMessage>);

// Where a refusal repeats bytes of the question that are no UTF-8, they are replaced.
inline ClusterMessage answer_to(const ClusterMessage& request, const nlohmann::json& json,
                                std::vector<std::uint8_t> records = {}) {
  return {.type = request.type,
          .is_answer = true,
          .id = request.id,
          .json = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
          .records = std::move(records)};
}

}  // namespace turntable::shadowfax
