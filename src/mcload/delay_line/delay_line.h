// A server in memcached's protocols for tests: it answers each request after a delay that is drawn
// from a known distribution, and counts the delays that it really gave.
//
// As a delay line, requests do not wait for each other, only replies of one connection keep their
// order. As a FIFO server, the draws are service times of a single queue. Of records it keeps the
// size; values are letters.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/unique_fd.h"
#include "load/variate.h"
#include "mcload/delay_line/request_reader.h"
#include "mcload/delay_line/slowdown.h"
#include "mcload/server_address.h"
#include "stats/histogram.h"
#include "workload/random.h"

namespace turntable::mcload {

class DelayLine {
 public:
  struct Settings {
    ServerAddress address = {};
    load::Variate delay_us = load::Variate::parse("0");
    bool is_fifo = false;
    bool sets_at_once = false;  // SETs have no delay: to populate takes no time
    bool hits_always = false;   // a GET of a record that was never stored is a hit of 100 bytes
    std::uint64_t seed = 1;
    bool realtime = false;
    std::int64_t spin_ns = 0;  // awake for so long before something is due
    Slowdown slowdown = {};
  };

  explicit DelayLine(Settings settings);
  ~DelayLine();

  void run();            // until stop()
  void stop() noexcept;  // thread-safe

  // Of the requests since the start or the last `stats reset`; after run(), or by its thread.
  nlohmann::json log() const;
  const stats::Histogram& given_ns() const noexcept { return given_ns_; }

 private:
  struct Client;
  struct Answer {
    std::int64_t due_ns;
    std::uint64_t sequence;
    std::uint64_t client;
    std::int64_t arrived_ns;
    ServerRequest request;  // without its key, which lies in memory of the reader's
    std::string key;        // of an ASCII hit, which repeats it
    bool is_hit;
    std::uint32_t value_bytes;

    bool operator>(const Answer& other) const noexcept {
      return due_ns != other.due_ns ? due_ns > other.due_ns : sequence > other.sequence;
    }
  };

  void accept_all();
  void read(Client& client);
  void take(Client& client, const ServerRequest& request, std::int64_t arrived_ns);
  std::int64_t due_ns(std::int64_t arrived_ns);
  void answer_due();
  void give(const Answer& answer);
  void write(Client& client);
  void end(std::uint64_t client);
  void reset_log();
  void record_gaps();
  int wait();

  Settings settings_;
  UniqueFd listener_, epoll_, wake_;
  std::atomic<bool> stopping_{false};
  std::unordered_map<std::uint64_t, std::unique_ptr<Client>> clients_;
  std::uint64_t next_client_ = 2;  // 0 and 1 are the listener and the wake-up
  std::priority_queue<Answer, std::vector<Answer>, std::greater<>> answers_;
  std::uint64_t sequence_ = 0;
  std::int64_t free_ns_ = 0;  // of the FIFO server
  std::unordered_map<std::string, std::uint32_t> records_;
  workload::Random random_;
  std::vector<char> buffer_;
  std::string letters_;

  stats::Histogram given_ns_, drawn_ns_, late_ns_;
  stats::Histogram gaps_ns_;            // between arrivals of requests with a delay
  std::vector<std::int64_t> arrivals_;  // of one turn of the loop
  std::int64_t last_arrival_ns_ = 0;    // 0: none yet
  std::uint64_t gets_ = 0, sets_ = 0;
};

}  // namespace turntable::mcload
