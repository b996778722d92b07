#include "cache/server_sessions.h"

#include <algorithm>
#include <string>

namespace turntable::cache {
namespace {

constexpr std::size_t kHelloHeader = 2;  // version and scale come before the partitions

}  // namespace

void ServerSessions::set_scale(unsigned scale) {
  if (scale == scale_) return;
  scale_ = scale;
  servers_.clear();
}

void ServerSessions::ask(unsigned partition, Message request, Unanswered::OnAnswer on_answer) {
  const Message& kept = unanswered_.add(std::move(request), std::move(on_answer));
  partition_of_[kept.id] = partition;
  const auto server = servers_.find(partition);
  if (server != servers_.end()) send_(server->second, kept);
}

void ServerSessions::tell(unsigned partition, Message message) {
  if (servers_.contains(partition)) ask(partition, std::move(message), [](const Message&) {});
}

void ServerSessions::received(SessionId session, const Message& message) {
  if (message.is_answer) {
    if (!unanswered_.settle(message)) {
      ++unexpected_answers_;
    } else {
      partition_of_.erase(message.id);
    }
  } else if (message.type == MessageType::kHello) {
    greeted(session, message);
  } else {
    on_request_(message, [this, session](const Message& answer) { send_(session, answer); });
  }
}

void ServerSessions::greeted(SessionId session, const Message& hello) {
  const auto& numbers = hello.numbers;
  const bool is_valid = numbers.size() >= kHelloHeader && numbers[0] == kMessagesVersion &&
                        numbers[1] == scale_ &&
                        std::all_of(numbers.begin() + kHelloHeader, numbers.end(),
                                    [this](std::uint32_t partition) { return partition < scale_; });
  if (!is_valid) {
    ++refused_hellos_;
    return send_(session, failure_of(hello, "HELLO of another version or scale; expected version " +
                                                std::to_string(kMessagesVersion) + " and scale " +
                                                std::to_string(scale_)));
  }
  const bool is_served =
      std::any_of(numbers.begin() + kHelloHeader, numbers.end(), [&](std::uint32_t partition) {
        const auto server = servers_.find(partition);
        return server != servers_.end() && server->second != session;
      });
  if (is_served) {
    ++refused_hellos_;
    return send_(session, failure_of(hello, "another node serves one of these partitions"));
  }
  forget(session);
  for (std::size_t i = kHelloHeader; i < numbers.size(); ++i) servers_[numbers[i]] = session;
  send_(session, answer_to(hello, {kMessagesVersion}));
  unanswered_.for_each([&](const Message& request) {
    const auto server = servers_.find(partition_of_.at(request.id));
    if (server != servers_.end() && server->second == session) send_(session, request);
  });
}

void ServerSessions::forget(SessionId session) {
  std::erase_if(servers_, [session](const auto& server) { return server.second == session; });
}

std::set<unsigned> ServerSessions::partitions() const {
  std::set<unsigned> partitions;
  for (const auto& [partition, session] : servers_) partitions.insert(partition);
  return partitions;
}

}  // namespace turntable::cache
