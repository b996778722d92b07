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

 private:
  net::EventLoop loop_;
  messages::Link<ClusterMessage> link_;
  std::thread thread_;
};

Asking::Asking(std::string whom, const sockaddr_in& to, net::Credentials credentials)
    : whom_(std::move(whom)), loop_(std::make_unique<Loop>(to, std::move(credentials))) {}

Asking::~Asking() = default;

Asking::Answer Asking::ask_for_records(ClusterMessageType type, const Json& args, Deadline deadline,
                                       std::vector<std::uint8_t> records,
                                       const std::stop_token& stop) {
  const auto question =
      loop_->ask({.type = type, .json = args.dump(), .records = std::move(records)});
  std::unique_lock lock(question->mutex);
  const bool is_answered = question->changed.wait_until(
      lock, stop, deadline.time_point(), [&] { return question->answer.has_value(); });
  if (!is_answered) {
    loop_->withdraw(question);
    throw NoAnswer(std::string(name_of(type)) + ": no answer of " + whom_ + " in time");
  }
  Json answer = Json::parse(question->answer->json, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) throw NoAnswer(whom_ + " answers what is no JSON");
  if (answer.contains("refused")) throw Refusal(answer["refused"].get<std::string>());
  return {.json = std::move(answer), .records = std::move(question->answer->records)};
}

}  // namespace turntable::shadowfax
