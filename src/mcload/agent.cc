// The agent's end (mcload/agent.h).

#include "mcload/agent.h"

#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>

#include "common/clock.h"
#include "common/command_error.h"
#include "mcload/agent_message.h"
#include "mcload/raw_statistics.h"
#include "mcload/settings_json.h"
#include "messages/listener.h"
#include "net/event_loop.h"
#include "net/ipv4.h"
#include "node/common_start.h"

namespace turntable::mcload {
namespace {

using Json = nlohmann::json;
using SessionId = messages::SessionListener::SessionId;

constexpr std::int64_t kLookNs = 50'000'000;

class Agent {
 public:
  Agent(const Options& options, net::EventLoop& loop)
      : loop_(loop),
        listener_(
            loop, net::parse_ipv4("--agent_port", "0.0.0.0", options.agent_port),
            net::Credentials::from_file(options.secret_file, "mcload", "agent"),
            [this](SessionId session, const AgentMessage& message) { received(session, message); },
            [this](SessionId session) { closed(session); }) {}
  ~Agent() { end_play(); }

  std::uint16_t port() const { return listener_.port(); }

 private:
  void received(SessionId session, const AgentMessage& message) {
    AgentMessage answer{.type = message.type, .is_answer = true, .id = message.id, .json = "{}"};
    try {
      if (message.type == AgentMessageType::kPrepare) prepare(Json::parse(message.json));
      if (message.type == AgentMessageType::kStart)
        return start(session, message.id, Json::parse(message.json));
    } catch (const std::exception& error) {
      answer.json = Json{{"error", error.what()}}.dump();
    }
    listener_.send(session, answer);
  }

  void prepare(const Json& args) {
    end_play();
    ++play_;  // what the one before has posted is of no use any more
    generator_.emplace("mcload agent", generator_settings_of(args.at("generator")));
    warmup_ns_ = args.at("warmup_ns");
    generator_->draw(warmup_ns_, args.at("measure_ns"), args.at("drain_ns"));
  }

  // A master whose connection broke asks again: the answer goes to the newest.
  void start(SessionId session, std::uint32_t id, const Json& args) {
    session_ = session;
    id_ = id;
    if (player_.joinable()) return;
    if (!generator_) throw CommandError("wrong_state", "mcload agent: nothing is prepared");
    const std::int64_t start_at_ns = args.at("start_at_ns");
    node::check_common_start("mcload agent", start_at_ns, warmup_ns_);
    const std::int64_t start_ns = start_at_ns + realtime_to_monotonic_ns();
    end_play_ = false;
    player_ = std::thread([this, start_ns, play = play_] {
      std::string result;
      try {
        generator_->play(start_ns, end_play_);
        if (end_play_) throw std::runtime_error("ended early: the master's connection broke");
        result = raw_statistics(generator_->measured()).dump();
      } catch (const std::exception& error) {
        result = Json{{"error", error.what()}}.dump();
      }
      loop_.post([this, play, result] {
        if (play == play_) played(result);
      });
    });
  }

  void played(const std::string& result) {
    end_play();
    generator_.reset();
    listener_.send(
        session_,
        AgentMessage{
            .type = AgentMessageType::kStart, .is_answer = true, .id = id_, .json = result});
  }

  void closed(SessionId session) {
    if (session == session_) end_play_ = true;  // nobody waits for it
  }

  void end_play() {
    if (!player_.joinable()) return;
    end_play_ = true;
    player_.join();
  }

  net::EventLoop& loop_;
  std::optional<Generator> generator_;
  std::int64_t warmup_ns_ = 0;  // of what it has drawn
  std::thread player_;
  std::atomic<bool> end_play_{false};
  std::uint64_t play_ = 0;
  SessionId session_ = 0;
  std::uint32_t id_ = 0;
  messages::Listener<AgentMessage> listener_;
};

// A signal only sets a flag: the loop looks at it.
void end_when(net::EventLoop& loop, const std::atomic<bool>& cancelled) {
  loop.call_at(loop.now_ns() + kLookNs, [&] {
    if (cancelled) return loop.stop();
    end_when(loop, cancelled);
  });
}

}  // namespace

int serve_as_agent(const Options& options, const std::atomic<bool>& cancelled) {
  net::EventLoop loop;
  Agent agent(options, loop);
  std::printf("mcload: agent at port %u\n", agent.port());
  std::fflush(stdout);
  end_when(loop, cancelled);
  loop.run();
  return 0;
}

}  // namespace turntable::mcload
