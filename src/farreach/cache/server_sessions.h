// The controller's connections with the servers: who serves which partition, and what each has been
// asked. A question waits for a server of its partition, whichever process that will be, but for no
// other incarnation of the partition's store (src/farreach/cache/messages.h).
//
// A generation lasts from one begin_generation() to the next: questions of the one before are
// dropped, and its connections closed, so that every server says HELLO again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "farreach/cache/links.h"
#include "farreach/cache/server_hello.h"

namespace turntable::cache {

class ServerSessions {
 public:
  using SessionId = MessageListener::SessionId;
  using Send = std::function<void(SessionId, const Message&)>;
  using Reply = std::function<void(const Message& answer)>;
  using OnRequest = std::function<void(const Message&, Reply)>;
  // Finds out what the switch has of these partitions; calls `found` once, now or later, or never
  // if the generation ends before.
  using Found = std::function<void(const std::vector<CachedKey>&)>;
  using FindCached = std::function<void(const std::set<unsigned>& partitions, Found found)>;

  // `on_request` gets what servers ask, but for HELLO. `find_cached` is asked before a server that
  // holds writes back is answered. Lives on the loop's thread.
  ServerSessions(Send send, OnRequest on_request, FindCached find_cached)
      : send_(std::move(send)),
        on_request_(std::move(on_request)),
        find_cached_(std::move(find_cached)) {}

  // `store`: for which one, if not the one that is or was there last. Answers the question's id.
  // What is for a store that is no more fails, now or as soon as that is known; such a failure
  // names the store that is there instead.
  std::uint32_t ask(unsigned partition, Message request, Unanswered::OnAnswer on_answer,
                    std::optional<std::uint32_t> store = std::nullopt);
  // Only if somebody serves the partition now; the answer is of no interest.
  void tell(unsigned partition, Message message);
  // Nobody waits for the answer any more: it is not asked again.
  void withdraw(std::uint32_t id);

  // The partitions of HELLOs must be of this scale; 0: there is no controller, and every HELLO is
  // refused. The caller closes the connections, and whoever asked has gone.
  void begin_generation(unsigned scale);

  // The store of the partition's server that greeted last; 0: there has been none.
  std::uint32_t store_of(unsigned partition) const;

  std::set<unsigned> partitions() const;  // that are served
  std::set<unsigned> asked() const;       // whose questions have no answer yet
  const std::map<unsigned, SessionId>& sessions() const { return servers_; }  // by partition
  std::size_t unanswered() const { return unanswered_.size(); }
  std::uint64_t unexpected_answers() const { return unexpected_answers_; }
  std::uint64_t refused_hellos() const { return refused_hellos_; }
  std::uint64_t for_other_stores() const { return for_other_stores_; }  // questions that failed

  // From the listener.
  void received(SessionId session, const Message& message);
  void closed(SessionId session) { forget(session); }

 private:
  struct Asked {
    unsigned partition;
    std::uint32_t store;  // 0: that of the first server that greets
    SessionId session;    // that it was sent to; 0: none
    bool is_repeated = false;
  };
  struct Greeting {  // a HELLO that is not answered yet
    Message hello;
    std::set<unsigned> partitions;
  };

  void greeted(SessionId session, const Message& message);
  bool is_served_by_another(SessionId session, const ServerHello& hello) const;
  void take_stores(const ServerHello& hello);
  void accept(SessionId session, std::uint32_t hello_id, const std::vector<CachedKey>& cached);
  void send_unanswered(SessionId session);
  void fail(std::uint32_t id);
  void settle(SessionId session, Message answer);
  void forget(SessionId session);

  Send send_;
  OnRequest on_request_;
  FindCached find_cached_;
  unsigned scale_ = 0;
  std::map<unsigned, SessionId> servers_;  // by partition
  std::map<unsigned, std::uint32_t> stores_;
  std::map<SessionId, Greeting> greetings_;
  Unanswered unanswered_;
  std::map<std::uint32_t, Asked> asked_;  // unanswered requests, by id
  std::uint64_t unexpected_answers_ = 0;
  std::uint64_t refused_hellos_ = 0;
  std::uint64_t for_other_stores_ = 0;
};

}  // namespace turntable::cache
