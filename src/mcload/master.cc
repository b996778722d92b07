// The master's end of agents (mcload/agent.h).

#include <unistd.h>

#include <charconv>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "common/clock.h"
#include "common/command_error.h"
#include "mcload/agent.h"
#include "mcload/agent_message.h"
#include "mcload/settings_json.h"
#include "messages/link.h"
#include "net/event_loop.h"
#include "net/ipv4.h"

namespace turntable::mcload {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kAheadNs = 300'000'000;  // for the agents to hear of the start
constexpr std::int64_t kPatienceNs = 30'000'000'000;
constexpr std::chrono::milliseconds kLook{20};

std::int64_t ns_of(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

sockaddr_in address_of(const std::string& agent, std::uint16_t port) {
  const std::size_t colon = agent.find(':');
  const std::string host = agent.substr(0, colon);
  if (colon != std::string::npos) {
    const char* const end = agent.data() + agent.size();
    const auto read = std::from_chars(agent.data() + colon + 1, end, port);
    if (read.ec != std::errc() || read.ptr != end || port == 0) {
      throw std::invalid_argument("-a " + agent +
                                  ": expected HOST, or HOST:PORT with a port of 1 to 65535");
    }
  }
  // The messages know IPv4.
  return net::parse_ipv4("-a", host, port);
}

class Master {
 public:
  Master(const Options& options, const std::atomic<bool>& cancelled)
      : options_(options), cancelled_(cancelled) {
    const auto credentials = net::Credentials::from_file(options.secret_file, "mcload",
                                                         "master " + std::to_string(::getpid()));
    for (const std::string& agent : options.agents) {
      links_.push_back(std::make_unique<Link>(
          loop_, address_of(agent, options.agent_port), credentials,
          [] { return AgentMessage{.type = AgentMessageType::kHello, .json = "{}"}; },
          [](const AgentMessage&) {}));
    }
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Master() {
    loop_.stop();
    thread_.join();
  }

  Measured play(const GeneratorSettings& all, double warmup_s, double seconds) {
    std::vector<GeneratorSettings> shares = shares_of(all);
    std::vector<std::string> asked;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      asked.push_back(Json{{"generator", to_json(shares[i + 1])},
                           {"warmup_ns", ns_of(warmup_s)},
                           {"measure_ns", ns_of(seconds)},
                           {"drain_ns", ns_of(options_.drain_s)}}
                          .dump());
    }
    ask_all(AgentMessageType::kPrepare, asked, ns_of(options_.connect_wait_s) + kPatienceNs);
    Generator own("--server", shares[0]);
    own.draw(ns_of(warmup_s), ns_of(seconds), ns_of(options_.drain_s));

    const std::int64_t start_at_ns = realtime_ns() + kAheadNs;
    const Json start = {{"start_at_ns", start_at_ns}};
    auto answers = begin_asking(AgentMessageType::kStart,
                                std::vector<std::string>(links_.size(), start.dump()));
    own.play(start_at_ns + realtime_to_monotonic_ns(), cancelled_);
    Measured measured = own.measured();
    // The master's own load may have been answered long before an agent's.
    for (const Json& answer : finish_asking(answers, ns_of(options_.drain_s) + kPatienceNs))
      measured.merge(measured_of(answer));
    return measured;
  }

 private:
  using Link = messages::Link<AgentMessage>;
  struct Answers {
    std::mutex mutex;
    std::condition_variable came;
    std::vector<std::optional<Json>> answers;
    std::size_t missing = 0;
  };

  // The master's own, then one for each agent.
  std::vector<GeneratorSettings> shares_of(const GeneratorSettings& all) const {
    const auto hosts = static_cast<double>(links_.size() + 1);
    std::vector<GeneratorSettings> shares(links_.size() + 1, all);
    const double own = options_.own_rate_per_s.value_or(all.rate_per_s / hosts);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      shares[i].client = static_cast<std::uint32_t>(i);
      shares[i].rate_per_s = i == 0 ? own : (all.rate_per_s - own) / (hosts - 1);
    }
    if (options_.own_connections) shares[0].connections = *options_.own_connections;
    if (options_.own_depth) shares[0].depth = *options_.own_depth;
    return shares;
  }

  std::shared_ptr<Answers> begin_asking(AgentMessageType type,
                                        const std::vector<std::string>& json) {
    auto answers = std::make_shared<Answers>();
    answers->answers.resize(links_.size());
    answers->missing = links_.size();
    for (std::size_t i = 0; i < links_.size(); ++i) {
      loop_.post([this, i, type, text = json[i], answers] {
        links_[i]->ask(AgentMessage{.type = type, .json = text},
                       [i, answers](const AgentMessage& answer) {
                         const std::lock_guard lock(answers->mutex);
                         answers->answers[i] = Json::parse(answer.json, nullptr, false);
                         --answers->missing;
                         answers->came.notify_all();
                       });
      });
    }
    return answers;
  }

  std::vector<Json> finish_asking(const std::shared_ptr<Answers>& answers,
                                  std::int64_t patience_ns) {
    const std::int64_t deadline_ns = monotonic_ns() + patience_ns;
    std::unique_lock lock(answers->mutex);
    while (!answers->came.wait_for(lock, kLook, [&] { return answers->missing == 0; })) {
      if (cancelled_) throw std::runtime_error("ended by a signal");
      if (monotonic_ns() < deadline_ns) continue;
      for (std::size_t i = 0; i < links_.size(); ++i)
        if (!answers->answers[i])
          fail(i,
               "no answer in time; expected `mcload -A` there with the "
               "same secret, and a clock that agrees");
    }
    std::vector<Json> all;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const Json& answer = *answers->answers[i];
      if (!answer.is_object()) fail(i, "an answer that is none; expected the same version there");
      if (answer.contains("error")) fail(i, answer["error"].get<std::string>());
      all.push_back(answer);
    }
    return all;
  }

  void ask_all(AgentMessageType type, const std::vector<std::string>& json,
               std::int64_t patience_ns) {
    finish_asking(begin_asking(type, json), patience_ns);
  }

  [[noreturn]] void fail(std::size_t agent, const std::string& why) const {
    throw std::runtime_error("agent " + options_.agents[agent] + ": " + why);
  }

  const Options& options_;
  const std::atomic<bool>& cancelled_;
  net::EventLoop loop_;
  std::vector<std::unique_ptr<Link>> links_;
  std::thread thread_;
};

}  // namespace

Play play_with_agents(const Options& options, const std::atomic<bool>& cancelled) {
  auto master = std::make_shared<Master>(options, cancelled);
  return [master](const GeneratorSettings& settings, double warmup_s, double seconds) {
    return master->play(settings, warmup_s, seconds);
  };
}

}  // namespace turntable::mcload
