#include "mcload/population.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/clock.h"
#include "common/command_error.h"
#include "mcload/connection.h"
#include "mcload/item_stats.h"

namespace turntable::mcload {
namespace {

constexpr std::size_t kUnderWay = 64;  // requests without a reply
constexpr int kLookMs = 100;           // how often somebody who waits looks whether to end

// A binary reply has bytes that a message cannot show.
std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 0x7f) {
      shown += c;
      continue;
    }
    std::array<char, 5> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte);
    shown += escaped.data();
  }
  return shown;
}

class Population {
 public:
  Population(const std::string& where, const ServerAddress& server, Protocol protocol,
             const Content& content, std::int64_t deadline_ns, const std::atomic<bool>& cancelled)
      : where_(where),
        server_(server),
        protocol_(protocol),
        content_(content),
        deadline_ns_(deadline_ns),
        cancelled_(cancelled),
        connection_(protocol, kUnderWay),
        buffer_(std::size_t{64} * 1024) {
    connection_.connecting(server.connect(where, deadline_ns));
    connection_.open(/*stamped=*/false);
  }

  // While no request is under way. Nothing: the server does not count its items.
  std::optional<ItemStats> item_stats() {
    const std::string_view request = ItemStatsReader::request(protocol_);
    if (::send(connection_.fd(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
      fail_closed(std::strerror(errno));
    ItemStatsReader reader(protocol_);
    for (;;) {
      const std::size_t bytes = await_bytes();
      if (reader.feed({buffer_.data(), bytes})) return reader.stats();
    }
  }

  // Once `items` are stored. A memcached that is full says STORED, and evicts another one.
  void require_kept(const std::optional<ItemStats>& before, std::uint64_t items) {
    const std::optional<ItemStats> now = item_stats();
    if (!now || !before) return;
    const std::uint64_t evicted = now->evictions - std::min(now->evictions, before->evictions);
    if (evicted > 0 || now->items < items) fail_evicted(now->items, items, evicted);
  }

  bool has_marker() {
    connection_.add_get(0, content_.marker(), 0);
    finish();
    return last_.outcome == Outcome::kHit;
  }

  void store_all() {
    for (std::uint32_t record = 0; record < content_.records(); ++record) {
      if (!connection_.has_room()) await_reply();
      connection_.add_set(record, content_.key(record, key_.data()), content_.value(record));
      if (!connection_.has_room() || record + 1 == content_.records()) send();
    }
    finish();
  }

  void store_marker() {
    connection_.add_set(content_.records(), content_.marker(), content_.value(0).first(0));
    finish();
  }

 private:
  void finish() {
    send();
    while (!connection_.empty()) await_reply();
  }

  void send() {
    check_end();  // also while answers come without a wait
    for (std::uint64_t sent = 0;;) {
      const auto flushed = connection_.flush(sent);
      if (flushed == Connection::Flushed::kAll) return;
      if (flushed == Connection::Flushed::kFailed) fail_closed(std::strerror(errno));
      wait(POLLOUT);
    }
  }

  // At least one, and all that have come.
  void await_reply() {
    while (!take({buffer_.data(), await_bytes()})) {
    }
  }

  // Into the buffer; how many.
  std::size_t await_bytes() {
    for (;;) {
      const Connection::Read read = connection_.read(buffer_);
      if (read.bytes == 0) fail_closed("the server closed the connection");
      if (read.bytes < 0 && read.bytes != -EAGAIN && read.bytes != -EINTR)
        fail_closed(std::strerror(static_cast<int>(-read.bytes)));
      if (read.bytes > 0) return static_cast<std::size_t>(read.bytes);
      wait(POLLIN);
    }
  }

  bool take(std::span<const char> bytes) {
    for (bool any = false;; any = true) {
      const auto status = connection_.next_reply(bytes, last_);
      if (status == ReplyReader::Status::kMore) return any;
      if (status == ReplyReader::Status::kBroken) fail_protocol();
      const Connection::Request& request = connection_.take_oldest();
      if (request.is_set && last_.outcome != Outcome::kStored) fail_refused(request);
    }
  }

  void wait(short events) {
    for (;;) {
      pollfd polled{connection_.fd(), events, 0};
      if (::poll(&polled, 1, kLookMs) > 0) return;
      check_end();
    }
  }

  void check_end() const {
    if (cancelled_) throw CommandError("unavailable", where_ + ": the node is ending");
    if (monotonic_ns() < deadline_ns_) return;
    throw CommandError("timeout", where_ + ": " + server_.text() +
                                      " did not take all records before the deadline; expected a "
                                      "longer \"deadline_s\", or fewer records");
  }

  [[noreturn]] void fail_closed(const std::string& why) {
    throw CommandError("unavailable", where_ + ": the connection to " + server_.text() +
                                          " ended while records were stored: " + why +
                                          "; look whether memcached still runs");
  }
  [[noreturn]] void fail_evicted(std::uint64_t items, std::uint64_t expected,
                                 std::uint64_t evicted) {
    throw CommandError(
        "unavailable",
        where_ + ": " + server_.text() + " has taken " + std::to_string(content_.records()) +
            " records, but holds " + std::to_string(items) + " items (curr_items) and evicted " +
            std::to_string(evicted) + "; expected at least " + std::to_string(expected) +
            " and none evicted. Give memcached more memory (-m): keys and values alone have " +
            std::to_string(content_.total_bytes() / 1'000'000 + 1) +
            " MB; or start it anew, or store fewer or smaller records");
  }
  [[noreturn]] void fail_protocol() {
    throw CommandError("unavailable", where_ + ": " + server_.text() + " answered \"" +
                                          printable(connection_.broken()) +
                                          "\"; expected the reply of a memcached of the same "
                                          "protocol to the oldest request");
  }
  [[noreturn]] void fail_refused(const Connection::Request& request) {
    static constexpr std::array<const char*, 8> kWhat = {"a value",
                                                         "not found",
                                                         "stored",
                                                         "not stored",
                                                         "out of memory, or the item is too large",
                                                         "a server error",
                                                         "a client error",
                                                         "that the command is unknown"};
    throw CommandError("unavailable",
                       where_ + ": " + server_.text() + " answered record " +
                           std::to_string(request.number) + " (" +
                           std::to_string(request.value_bytes) + " bytes) with " +
                           kWhat[static_cast<std::size_t>(last_.outcome)] +
                           "; expected it to be stored. Give memcached more memory (-m), or store "
                           "fewer or smaller records");
  }

  const std::string where_;
  const ServerAddress& server_;
  const Protocol protocol_;
  const Content& content_;
  const std::int64_t deadline_ns_;
  const std::atomic<bool>& cancelled_;
  Connection connection_;
  std::vector<char> buffer_;
  std::array<char, Content::kKeyRoom> key_{};
  Reply last_;
};

}  // namespace

Populated populate(const std::string& where, const ServerAddress& server, Protocol protocol,
                   const Content& content, std::int64_t deadline_ns,
                   const std::atomic<bool>& cancelled, bool again) {
  const std::int64_t began_ns = monotonic_ns();
  Population population(where, server, protocol, content, deadline_ns, cancelled);
  Populated populated;
  const std::optional<ItemStats> before = population.item_stats();
  const std::uint64_t items = std::uint64_t{content.records()} + 1;  // with the marker
  // What was evicted may have been its own.
  const bool may_hold_all = !before || (before->items >= items && before->evictions == 0);
  populated.was_there = !again && may_hold_all && population.has_marker();
  if (!populated.was_there) {
    population.store_all();
    population.require_kept(before, content.records());
    population.store_marker();
    population.require_kept(before, items);
    populated.stored = content.records();
  }
  populated.seconds = static_cast<double>(monotonic_ns() - began_ns) / 1e9;
  return populated;
}

}  // namespace turntable::mcload
