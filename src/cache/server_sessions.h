// The controller's connections with the servers: who serves which partition, and what each has been
// asked. A question waits for a server of its partition, whichever process that will be.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "cache/message_listener.h"
#include "cache/unanswered.h"

namespace turntable::cache {

class ServerSessions {
 public:
  using SessionId = MessageListener::SessionId;
  using Send = std::function<void(SessionId, const Message&)>;
  using Reply = std::function<void(const Message& answer)>;
  using OnRequest = std::function<void(const Message&, Reply)>;

  // `on_request` gets what servers ask, but for HELLO. Lives on the loop's thread.
  ServerSessions(Send send, OnRequest on_request)
      : send_(std::move(send)), on_request_(std::move(on_request)) {}

  void ask(unsigned partition, Message request, Unanswered::OnAnswer on_answer);
  // Only if somebody serves the partition now; the answer is of no interest.
  void tell(unsigned partition, Message message);

  // The partitions of HELLOs must be of this scale; 0: not known yet, and every HELLO is refused.
  void set_scale(unsigned scale);

  std::set<unsigned> partitions() const;                                      // that are served
  const std::map<unsigned, SessionId>& sessions() const { return servers_; }  // by partition
  std::size_t unanswered() const { return unanswered_.size(); }
  std::uint64_t unexpected_answers() const { return unexpected_answers_; }
  std::uint64_t refused_hellos() const { return refused_hellos_; }

  // From the listener.
  void received(SessionId session, const Message& message);
  void closed(SessionId session) { forget(session); }

 private:
  void greeted(SessionId session, const Message& hello);
  void forget(SessionId session);

  Send send_;
  OnRequest on_request_;
  unsigned scale_ = 0;
  std::map<unsigned, SessionId> servers_;  // by partition
  Unanswered unanswered_;
  std::map<std::uint32_t, unsigned> partition_of_;  // of unanswered requests, by id
  std::uint64_t unexpected_answers_ = 0;
  std::uint64_t refused_hellos_ = 0;
};

}  // namespace turntable::cache
