// What a master and its agents say to each other: JSON in src/messages' frames.
//
//   HELLO                     the master greets
//   PREPARE {generator, …_ns}  the agent opens its connections and draws the requests of phases
//                              that are so long; answer {} or {"error"}
//   START {start_at_ns}        it plays them; answer: what it measured, or {"error"}
#pragma once

#include <span>
#include <string>

#include "messages/message.h"

namespace turntable::mcload {

enum class AgentMessageType : std::uint8_t { kHello = 1, kPrepare = 2, kStart = 3 };

struct AgentMessage {
  AgentMessageType type{};
  bool is_answer = false;
  std::uint32_t id = 0;
  std::string json;
};

inline const char* name_of(AgentMessageType type) {
  switch (type) {
    case AgentMessageType::kHello:
      return "HELLO";
    case AgentMessageType::kPrepare:
      return "PREPARE";
    case AgentMessageType::kStart:
      return "START";
    default:
      return nullptr;
  }
}

inline bool is_refusal(const AgentMessage& /*answer*/) {
  return false;
}

inline void write_body(const AgentMessage& message, ByteWriter& to) {
  const std::string& json = message.json;
  to.number(static_cast<std::uint32_t>(json.size()));
  to.bytes(std::span(reinterpret_cast<const std::uint8_t*>(json.data()), json.size()));
}

inline void read_body(ByteReader& from, AgentMessage& message) {
  const auto json = from.take(from.number<std::uint32_t>());
  message.json.assign(json.begin(), json.end());
}

static_assert(messages::Message<AgentMessage>);

}  // namespace turntable::mcload
