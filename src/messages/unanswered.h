// Requests that wait for their answers, so that they can be sent again after a connection broke.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include "messages/message.h"

namespace turntable::messages {

template <Message M>
class Unanswered {
 public:
  using OnAnswer = std::function<void(const M& answer)>;

  // Gives the request its id and keeps it; the caller sends what is returned.
  const M& add(M request, OnAnswer on_answer) {
    const std::uint32_t id = next_id_++;
    request.id = id;
    const auto [place, inserted] =
        waiting_.insert_or_assign(id, Waiting{std::move(request), std::move(on_answer)});
    return place->second.request;
  }

  // Hands `answer` to who asked. False: nobody waits for it, as after a repeated request.
  bool settle(const M& answer) {
    const auto found = waiting_.find(answer.id);
    if (found == waiting_.end() || found->second.request.type != answer.type) return false;
    const Waiting settled = std::move(waiting_.extract(found).mapped());
    settled.on_answer(answer);
    return true;
  }

  // Tells who asked that there will be no answer: gives them failure_of(request) instead.
  template <typename FailureOf>
  void fail(std::uint32_t id, const FailureOf& failure_of) {
    const auto found = waiting_.find(id);
    if (found != waiting_.end()) settle(failure_of(found->second.request));
  }

  // Nobody waits for it any more.
  void drop(std::uint32_t id) { waiting_.erase(id); }
  void clear() { waiting_.clear(); }

  template <typename Send>
  void for_each(Send&& send) const {
    for (const auto& [id, waiting] : waiting_) send(waiting.request);
  }

  std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    M request;
    OnAnswer on_answer;
  };
  // Not from 1: an answer to a process that has died must not pass for one to its successor.
  // From the lower half of all ids, so that their order stays that of the questions.
  std::uint32_t next_id_ = std::random_device{}() >> 1U;
  std::map<std::uint32_t, Waiting> waiting_;
};

}  // namespace turntable::messages
