// A connection to the metadata service or to a server, for threads that wait for their answers. It
// is made again when it breaks, and what has no answer is asked again.
#pragma once

#include <netinet/in.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
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
  struct Question;

 public:
  // Whether whom is asked is still at this place; it may ask others, until `stop` is asked for.
  using IsThere = std::function<bool(const std::stop_token& stop)>;

  // whom: of messages, "the metadata service". credentials: of no other connection to there.
  Asking(
      std::string whom, const sockaddr_in& to, net::Credentials credentials,
      IsThere is_there = [](const std::stop_token&) { return true; });
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

  // A question that is under way: as long as it lives, it is asked again when the connection
  // breaks. Not longer than whom it asks.
  class Asked {
   public:
    Asked(Asking& asking, std::shared_ptr<Question> question)
        : asking_(asking), question_(std::move(question)) {}
    ~Asked();  // nobody waits for the answer any more
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

    // Nothing at the deadline, and when `stop` is asked for. The answer is given once. Throws
    // Refusal; NoAnswer where it is none.
    std::optional<Answer> wait(Deadline deadline, const std::stop_token& stop = {});

   private:
    Asking& asking_;
    const std::shared_ptr<Question> question_;
  };
  std::unique_ptr<Asked> begin(ClusterMessageType type, const nlohmann::json& args,
                               std::vector<std::uint8_t> records = {});

  // However long it takes whom is asked: asked anew, the question would wait behind itself. Where
  // there is no answer it is looked every `look_s` whether there is somebody. Throws Refusal;
  // NoAnswer when `stop` is asked for, at the deadline, and where whom is asked has gone to another
  // place.
  Answer ask_patiently(ClusterMessageType type, const nlohmann::json& args,
                       std::vector<std::uint8_t> records, double look_s,
                       const std::stop_token& stop, Deadline deadline = Deadline::never());

  // After a while without an answer: as the constructor's is_there. A connection that only this end
  // still believes in breaks after it.
  bool is_there(const std::stop_token& stop);

 private:
  class Loop;

  NoAnswer no_answer(ClusterMessageType type) const;

  const std::string whom_;
  const IsThere is_there_;
  const std::unique_ptr<Loop> loop_;
};

}  // namespace turntable::shadowfax
