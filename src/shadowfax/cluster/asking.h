// A connection to the metadata service or to a server, for threads that wait for their answers. It
// is made again when it breaks, and what has no answer is asked again.
#pragma once

#include <netinet/in.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "common/deadline.h"
#include "net/credentials.h"
#include "shadowfax/cluster/cluster_message.h"
#include "shadowfax/cluster/cluster_state.h"

namespace turntable::shadowfax {

// There is no answer: nobody may have heard the question, or it was done and the answer was lost.
class NoAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Asking {
 public:
  // whom: of messages, "the metadata service". credentials: of no other connection to there.
  Asking(std::string whom, const sockaddr_in& to, net::Credentials credentials);
  ~Asking();  // ends all that wait
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  // Any thread. Throws Refusal; NoAnswer at the deadline, and when `stop` is asked for.
  nlohmann::json ask(ClusterMessageType type, const nlohmann::json& args, Deadline deadline,
                     std::vector<std::uint8_t> records = {}, const std::stop_token& stop = {}) {
    return ask_for_records(type, args, deadline, std::move(records), stop).json;
  }
  // NOLINTNEXTLINE(bugprone-exception-escape): JSON's null throws nothing
  struct Answer {
    nlohmann::json json;
    std::vector<std::uint8_t> records;
  };
  Answer ask_for_records(ClusterMessageType type, const nlohmann::json& args, Deadline deadline,
                         std::vector<std::uint8_t> records = {}, const std::stop_token& stop = {});

 private:
  struct Question;
  class Loop;

  const std::string whom_;
  const std::unique_ptr<Loop> loop_;
};

}  // namespace turntable::shadowfax
