#include "shadowfax/cluster/asking.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "messages/link.h"
#include "net/event_loop.h"

namespace turntable::shadowfax {

using Json = nlohmann::json;

// Shared with the loop: an answer may come when nobody waits any more.
struct Asking::Question {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<ClusterMessage> answer;
  std::uint32_t id = 0;  // of the loop's thread
};

class Asking::Loop {
 public:
  Loop(const sockaddr_in& to, net::Credentials credentials)
      : link_(
            loop_, to, std::move(credentials),
            [] { return ClusterMessage{.type = ClusterMessageType::kHello, .records = {}}; },
            [](const ClusterMessage&) {}),
        thread_([this] { loop_.run(); }) {}
  ~Loop() {
    loop_.stop();
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  std::shared_ptr<Question> ask(ClusterMessage message) {
    auto question = std::make_shared<Question>();
    loop_.post([this, message = std::move(message), question]() mutable {
      question->id = link_.ask(std::move(message), [question](const ClusterMessage& answer) {
        const std::lock_guard lock(question->mutex);
        question->answer = answer;
        question->changed.notify_all();
      });
    });
    return question;
  }
  // It is not asked again when the connection breaks: it would be done although nobody wants it.
  void withdraw(const std::shared_ptr<Question>& question) {
    loop_.post([this, question] { link_.withdraw(question->id); });
  }
  // Says something, which nobody needs. A machine that has forgotten the connection says so then.
  void probe() {
    loop_.post([this] { link_.greet(); });
  }

 private:
  net::EventLoop loop_;
  messages::Link<ClusterMessage> link_;
  std::thread thread_;
};

Asking::Asking(std::string whom, const sockaddr_in& to, net::Credentials credentials,
               IsThere is_there)
    : whom_(std::move(whom)),
      is_there_(std::move(is_there)),
      loop_(std::make_unique<Loop>(to, std::move(credentials))) {}

Asking::~Asking() = default;

NoAnswer Asking::no_answer(ClusterMessageType type) const {
  return NoAnswer(std::string(name_of(type)) + ": no answer of " + whom_ + " in time");
}

bool Asking::is_there(const std::stop_token& stop) {
  if (!is_there_(stop)) return false;
  loop_->probe();
  return true;
}

std::unique_ptr<Asking::Asked> Asking::begin(ClusterMessageType type, const Json& args,
                                             std::vector<std::uint8_t> records) {
  return std::make_unique<Asked>(
      *this, loop_->ask({.type = type, .json = args.dump(), .records = std::move(records)}));
}

Asking::Answer Asking::ask_for_records(ClusterMessageType type, const Json& args, Deadline deadline,
                                       std::vector<std::uint8_t> records,
                                       const std::stop_token& stop) {
  if (auto answer = begin(type, args, std::move(records))->wait(deadline, stop))
    return *std::move(answer);
  throw no_answer(type);
}

Asking::Answer Asking::ask_patiently(ClusterMessageType type, const Json& args,
                                     std::vector<std::uint8_t> records, double look_s,
                                     const std::stop_token& stop, Deadline deadline) {
  const std::unique_ptr<Asked> asked = begin(type, args, std::move(records));
  do {
    if (auto answer = asked->wait(Deadline::after_seconds(look_s).min(deadline), stop))
      return *std::move(answer);
  } while (!stop.stop_requested() && !deadline.passed() && is_there(stop));
  throw no_answer(type);
}

Asking::Asked::~Asked() {
  asking_.loop_->withdraw(question_);
}

std::optional<Asking::Answer> Asking::Asked::wait(Deadline deadline, const std::stop_token& stop) {
  std::unique_lock lock(question_->mutex);
  const bool is_answered = question_->changed.wait_until(
      lock, stop, deadline.time_point(), [&] { return question_->answer.has_value(); });
  if (!is_answered) return std::nullopt;
  Json answer = Json::parse(question_->answer->json, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) throw NoAnswer(asking_.whom_ + " answers what is no JSON");
  if (answer.contains("refused")) throw Refusal(answer["refused"].get<std::string>());
  return Answer{.json = std::move(answer), .records = std::move(question_->answer->records)};
}

}  // namespace turntable::shadowfax
