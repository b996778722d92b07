// LAEDGE's coordinator without its sockets: which server gets a request, which requests wait, and
// which answers go on to clients (docs/netclone.md §5).
//
//   2 or more servers idle: the request goes to two of them        1 idle: to that one
//   none idle: it waits in the order of arrival; the next answer makes room for one
//   the first answer to a request is forwarded, the slower one dropped
//
// Requests under way have a ticket, which travels in fields that only the switch's methods use
// (group and seq) and comes back with the answer. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/ring.h"
#include "netclone/laedge.h"
#include "netclone/packet.h"
#include "stats/histogram.h"

namespace turntable::netclone {

class Coordinator {
 public:
  struct Settings {
    LaedgeMode mode = LaedgeMode::kSlots;
    std::vector<std::uint32_t> workers;  // of each server
    std::uint64_t seed = 0;
    std::size_t queue_max = 100'000;  // requests that can wait; more are dropped
    // Without an answer for so long, a server is taken to have lost the request.
    std::int64_t give_up_ns = 10'000'000'000;
  };

  struct Sending {
    std::uint32_t server;
    Packet packet;
  };
  // Copies of one request, none to two.
  struct Sendings {
    std::array<Sending, 2> copies{};
    std::size_t count = 0;
    std::int64_t waited_ns = 0;  // in the queue

    std::span<const Sending> all() const { return std::span(copies).first(count); }
  };
  enum class Answer : std::uint8_t { kForward, kRedundant, kUnknown };
  struct Handled {
    Answer answer;
    Sendings next;               // of a request that has waited
    std::int64_t credit_ns = 0;  // how long the copy's credit was taken
  };

  struct Counts {
    std::int64_t requests = 0;
    std::int64_t cloned = 0;      // requests of which two copies were sent
    std::int64_t single = 0;      // one copy
    std::int64_t waited = 0;      // of all of these, those that no server was idle for
    std::int64_t queue_full = 0;  // dropped
    std::int64_t forwarded = 0;
    std::int64_t redundant = 0;  // slower answers, dropped
    std::int64_t unknown = 0;    // answers to nothing under way, or not of the server; dropped
    std::int64_t given_up = 0;   // copies without an answer

    Counts operator-(const Counts& earlier) const;
  };

  explicit Coordinator(const Settings& settings);

  Sendings request(const Packet& packet, std::int64_t now_ns);
  Handled answer(const Packet& packet, std::int64_t now_ns) noexcept;
  void refuse() noexcept { ++counts_.unknown; }  // an answer that is not the named server's

  // Gives up one copy that has been under way too long, if there is one, and answers what can be
  // sent then. Call it until it answers nothing.
  std::optional<Sendings> give_up(std::int64_t now_ns) noexcept;

  std::size_t queue_length() const noexcept { return queue_.size(); }
  std::size_t under_way() const noexcept { return tickets_.size() - free_.size(); }
  const Counts& counts() const noexcept { return counts_; }

 private:
  struct Waiting {
    Packet packet;
    std::int64_t since_ns;
  };
  struct Ticket {
    std::uint32_t generation = 0;
    std::uint64_t request = 0;
    std::int64_t sent_ns = 0;
    std::array<std::uint32_t, 2> server{};
    std::array<bool, 2> open{};  // no answer of that copy yet
    bool answered = false;
  };

  Sendings send(const Packet& packet, const LaedgeCredits::Choice& choice,
                std::int64_t now_ns) noexcept;
  Sendings make_room(std::uint32_t server, std::int64_t now_ns) noexcept;
  void close(std::uint32_t index, unsigned copy) noexcept;

  Settings settings_;
  LaedgeCredits credits_;
  Ring<Waiting> queue_;
  std::vector<Ticket> tickets_;
  std::vector<std::uint32_t> free_;  // tickets
  Counts counts_;
};

}  // namespace turntable::netclone
