// text-batches: what memcached or Redis does for a client that sends requests in batches, as
// Shadowfax's clients do: a yardstick for hlserver.
//
//   text-batches --protocol memcached --port 11211 --kind incr --keys 10000000 --batch 1926
//
// Batches of single-key commands, `pipeline` of them under way on one connection, keys uniform. It
// does as little as a client can: numbers become text, and replies are counted by their lines.
// Prints one line of JSON: operations per second, and the mean round trip of a batch.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/errno_error.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "common/unique_fd.h"
#include "workload/random.h"

namespace turntable::bench {
namespace {

struct Options {
  std::string protocol = "memcached", kind = "incr", address = "127.0.0.1";
  std::uint16_t port = 11'211;
  std::uint64_t keys = 1'000'000;
  std::size_t batch = 1'926, pipeline = 2;
  double seconds = 3;
  bool fills = false;
};

// A command around a key, and how many lines its reply has.
struct Command {
  std::string_view before, after;
  std::size_t lines;
};

Command command_of(const Options& options) {
  const bool is_get = options.kind == "get";
  if (options.protocol == "redis")
    return is_get ? Command{"GET ", "\r\n", 2} : Command{"INCR ", "\r\n", 1};
  return is_get ? Command{"get ", "\r\n", 3} : Command{"incr ", " 1\r\n", 1};
}

Command fill_of(const Options& options) {
  if (options.protocol == "redis") return {"SET ", " 10000000\r\n", 1};
  return {"set ", " 0 0 8\r\n10000000\r\n", 1};
}

class Connection {
 public:
  explicit Connection(const Options& options)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    if (::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) != 1)
      throw std::invalid_argument("--address " + options.address + ": expected an IPv4 address");
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw errno_error("cannot connect to " + options.address);
    const int yes = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) throw errno_error("cannot send");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // Of what has come; waits for something.
  std::size_t lines() {
    const ssize_t bytes = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (bytes <= 0) throw errno_error("the server has closed the connection");
    return static_cast<std::size_t>(std::count(buffer_.begin(), buffer_.begin() + bytes, '\n'));
  }

 private:
  UniqueFd socket_;
  std::array<char, std::size_t{256} * 1024> buffer_{};
};

class Batches {
 public:
  Batches(const Options& options, Connection& connection)
      : options_(options), connection_(connection) {}

  // Sends commands for the keys that next() gives until it gives none, or until an instant.
  template <typename Next>
  void play(const Command& command, const Next& next, std::int64_t until_ns) {
    bool goes_on = true;
    while (goes_on || !sent_ns_.empty()) {
      goes_on = goes_on && monotonic_ns() < until_ns;
      while (goes_on && sent_ns_.size() < options_.pipeline) goes_on = send(command, next);
      if (!sent_ns_.empty()) receive(command);
    }
  }

  nlohmann::json result(double seconds) const {
    return {{"operations_per_s", static_cast<double>(operations_) / seconds},
            {"round_trip_mean_ns",
             static_cast<double>(round_trips_ns_) / static_cast<double>(batches_)}};
  }

 private:
  struct Sent {
    std::int64_t at_ns;
    std::size_t operations;
  };

  template <typename Next>
  bool send(const Command& command, const Next& next) {
    text_.clear();
    std::size_t operations = 0;
    for (; operations < options_.batch; ++operations) {
      const auto key = next();
      if (!key) break;
      std::array<char, 20> digits;
      char* const end = std::to_chars(digits.begin(), digits.end(), *key).ptr;
      text_.append(command.before).append(digits.begin(), end).append(command.after);
    }
    if (operations == 0) return false;
    sent_ns_.push_back({monotonic_ns(), operations});
    connection_.send(text_);
    return true;
  }

  void receive(const Command& command) {
    lines_ += connection_.lines();
    while (!sent_ns_.empty() && lines_ >= sent_ns_.front().operations * command.lines) {
      const Sent answered = sent_ns_.front();
      sent_ns_.pop_front();
      lines_ -= answered.operations * command.lines;
      operations_ += answered.operations;
      round_trips_ns_ += monotonic_ns() - answered.at_ns;
      ++batches_;
    }
  }

  const Options& options_;
  Connection& connection_;
  std::string text_;
  std::deque<Sent> sent_ns_;
  std::size_t lines_ = 0;
  std::uint64_t operations_ = 0, batches_ = 0;
  std::int64_t round_trips_ns_ = 0;
};

nlohmann::json measure(const Options& options) {
  Connection connection(options);
  if (options.fills) {
    std::uint64_t key = 0;
    const auto next = [&]() -> std::optional<std::uint64_t> {
      return key < options.keys ? std::optional(key++) : std::nullopt;
    };
    Batches(options, connection).play(fill_of(options), next, INT64_MAX);
  }
  workload::Random random(1);
  const auto draw = [&] {
    return std::optional(
        static_cast<std::uint64_t>((__uint128_t{random.next()} * options.keys) >> 64U));
  };
  Batches batches(options, connection);
  const std::int64_t began_ns = monotonic_ns();
  batches.play(command_of(options), draw,
               began_ns + static_cast<std::int64_t>(options.seconds * 1e9));
  return batches.result(static_cast<double>(monotonic_ns() - began_ns) / 1e9);
}

int run(int argc, char** argv) {
  Options options;
  ProgramOptions app("text-batches", "Batches of commands for memcached or Redis");
  app.option("--protocol", options.protocol, "Whose commands")
      .one_of({"memcached", "redis"})
      .shows_default();
  app.option("--kind", options.kind, "Command").one_of({"incr", "get"}).shows_default();
  app.option("--address", options.address, "IPv4 address").shows_default();
  app.option("--port", options.port, "TCP port").shows_default();
  app.option("--keys", options.keys, "How many").within(1, 1e10).shows_default();
  app.option("--batch", options.batch, "Commands of a batch").within(1, 1e6).shows_default();
  app.option("--pipeline", options.pipeline, "Batches under way").within(1, 1024).shows_default();
  app.option("--seconds", options.seconds, "Of the load").within(0.01, 3600).shows_default();
  app.flag("--fill", options.fills, "Store all keys first");
  if (const auto status = app.parse(argc, argv)) return *status;
  std::cout << measure(options) << std::endl;
  return 0;
}

}  // namespace
}  // namespace turntable::bench

int main(int argc, char** argv) {
  return turntable::run_main("text-batches", [&] { return turntable::bench::run(argc, argv); });
}
