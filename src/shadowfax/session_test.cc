// Clients and workers over loopback.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/deadline.h"
#include "common/scratch_directory.h"
#include "common/unique_fd.h"
#include "shadowfax/client/client_session.h"
#include "shadowfax/server/worker.h"
#include "workload/random.h"

namespace turntable::shadowfax {
namespace {

class Served {
 public:
  explicit Served(std::size_t workers,
                  const hybridlog::LogSettings& log = {.page_bits = 20, .pages = 8},
                  std::unique_ptr<hybridlog::Device> device = nullptr)
      : store_({.index_buckets = 1024, .log = log, .threads = workers, .reader_threads = 2},
               device ? std::move(device) : hybridlog::open_file(directory_.path() / "log")) {
    for (std::size_t i = 0; i < workers; ++i)
      workers_.push_back(
          std::make_unique<Worker>(store_, commits_, serving_, nullptr, WorkerSettings{}));
    for (const auto& each : workers_) threads_.emplace_back([&each] { each->run(); });
  }
  ~Served() {
    for (const auto& each : workers_) each->stop();
  }

  ClientSession::Settings session(std::size_t worker = 0, std::size_t requests = 100) const {
    return {.port = workers_[worker]->port(), .batch_requests = requests};
  }
  hybridlog::Store& store() { return store_; }

 private:
  ScratchDirectory directory_;
  hybridlog::Store store_;
  const Commits commits_;
  const Serving serving_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;
};

struct Collected : ClientSession::Replies {
  void done(const Reply& reply, std::uint64_t context) override {
    replies.push_back(reply);
    contexts.push_back(context);
  }
  void batch_done(std::int64_t /*round_trip_ns*/) override { ++batches; }
  void batch_refused() override { ++refused; }
  std::vector<Reply> replies;
  std::vector<std::uint64_t> contexts;
  int batches = 0, refused = 0;
};

void receive(ClientSession& session, ClientSession::Replies& replies) {
  session.receive(replies);
  if (session.pause_ends_ns() <= monotonic_ns()) session.go_on();
}

void wait_for_all(ClientSession& session, ClientSession::Replies& replies) {
  session.flush();
  while (session.outstanding() > 0) receive(session, replies);
}

// The server learns that a session's last client has ended after that client has it.
std::unique_ptr<ClientSession> open_once_free(const ClientSession::Settings& settings) {
  while (true) {
    try {
      return std::make_unique<ClientSession>(settings);
    } catch (const SessionError&) {
      std::this_thread::yield();
    }
  }
}

// A server that serves all requests, and refuses every batch without any: it has just ended to
// wait, each time. `firsts`: the numbers that batches with requests begin with.
class JustBusy {
 public:
  JustBusy() : listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    EXPECT_EQ(::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address_), length), 0);
    EXPECT_EQ(::listen(listening_.get(), 1), 0);
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address_), &length);
    thread_ = std::jthread([this] { serve(); });
  }

  std::uint16_t port() const { return ntohs(address_.sin_port); }
  // Once the session has ended.
  std::vector<std::uint64_t> firsts() {
    thread_.join();
    return firsts_;
  }

 private:
  void serve() {
    const UniqueFd client(::accept(listening_.get(), nullptr, nullptr));
    std::array<std::byte, kMostBatchBytes> in, out;
    const auto read = [&](std::size_t bytes) {
      return bytes == 0 ||
             ::recv(client.get(), in.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
    };
    const auto send = [&](const std::byte* end) {
      ::send(client.get(), out.data(), static_cast<std::size_t>(end - out.data()), MSG_NOSIGNAL);
    };
    if (!read(Opening::kBytes)) return;
    send(write(out.data(), Welcome{.status = WelcomeStatus::kOpen, .most_value_bytes = 8}));
    std::uint64_t served = 0;
    while (read(RequestHeader::kBytes)) {
      const RequestHeader header = read_request_header(in.data());
      if (!read(header.bytes)) return;
      const std::size_t count = header.bytes / Request::kBytes;
      // Who asks is told that all of it is committed.
      ReplyHeader reply{.status = count > 0 ? BatchStatus::kServed : BatchStatus::kBusy,
                        .committed = count > 0 ? 0 : served};
      std::byte* at = out.data() + ReplyHeader::kBytes;
      for (std::size_t i = 0; i < count; ++i)
        at = write(at, Reply{.opcode = Opcode::kUpsert,
                             .status = ReplyStatus::kOk,
                             .number = header.first + i,
                             .value = 0});
      reply.bytes = static_cast<std::uint64_t>(at - out.data()) - ReplyHeader::kBytes;
      write(out.data(), reply);
      send(at);
      if (count == 0) continue;
      firsts_.push_back(header.first);
      served = header.first + count - 1;
    }
  }

  UniqueFd listening_;
  sockaddr_in address_{};
  std::vector<std::uint64_t> firsts_;
  std::jthread thread_;  // last: it uses the others
};

TEST(Sessions, WhatIsStoredIsRead) {
  Served served(1);
  ClientSession session(served.session());
  Collected got;
  session.add({Opcode::kUpsert, 1, 10});
  session.add({Opcode::kAdd, 1, 5});
  session.add({Opcode::kRead, 1, 0});
  wait_for_all(session, got);
  ASSERT_EQ(got.replies.size(), 3U);
  EXPECT_EQ(got.replies[2].value, 15U);
}

// Neither a context nor a key is one that means something else.
TEST(Sessions, TheLargestContextIsToldAsEveryOther) {
  Served served(1);
  ClientSession session(served.session());
  Collected got;
  session.add({Opcode::kUpsert, UINT64_MAX, 10}, UINT64_MAX);
  session.add({Opcode::kRead, UINT64_MAX, 0}, UINT64_MAX - 1);
  session.flush();
  const Deadline deadline = Deadline::after_seconds(20);
  while (session.outstanding() > 0 && !deadline.passed()) receive(session, got);
  EXPECT_EQ(got.contexts, (std::vector<std::uint64_t>{UINT64_MAX, UINT64_MAX - 1}));
  EXPECT_EQ(got.replies.back().value, 10U);
}

// Two sessions at two workers, a log much smaller than the data: all additions are there.
TEST(Sessions, SumsAreExact) {
  constexpr std::uint64_t kKeys = 2000, kAdditions = 60'000;
  Served served(2, {.page_bits = 12, .pages = 4, .mutable_share = 0.5});
  std::vector<std::map<std::uint64_t, std::uint64_t>> added(2);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        ClientSession session(served.session(i, 16));
        Collected got;
        workload::Random random(i);
        for (std::uint64_t n = 0; n < kAdditions; ++n) {
          while (!session.has_room() || session.pending() > 40) receive(session, got);
          const std::uint64_t key = random.next() % kKeys;
          session.add({Opcode::kAdd, key, 1});
          ++added[i][key];
        }
        wait_for_all(session, got);
        EXPECT_EQ(got.replies.size(), kAdditions);
        for (const Reply& reply : got.replies) ASSERT_EQ(reply.status, ReplyStatus::kOk);
      });
    }
  }
  EXPECT_GT(served.store().log().head(), hybridlog::kFirstAddress);
  ClientSession session(served.session(0, 1));
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    Collected got;
    session.add({Opcode::kRead, key, 0});
    wait_for_all(session, got);
    ASSERT_EQ(got.replies.at(0).value, added[0][key] + added[1][key]) << key;
  }
}

// Two batches are under way, two others are filled, and there is room for no more.
TEST(Sessions, APipelineHasAnEnd) {
  Served served(1);
  ClientSession session(served.session(0, 2));
  for (std::uint64_t key = 0; key < 5; ++key) session.add({Opcode::kUpsert, key, key});
  EXPECT_EQ(session.batches_under_way(), 2U);
  EXPECT_EQ(session.room(), 3U);
  for (std::uint64_t key = 5; key < 8; ++key) session.add({Opcode::kUpsert, key, key});
  EXPECT_FALSE(session.has_room());
  EXPECT_EQ(session.batches_under_way(), 2U);
  Collected got;
  wait_for_all(session, got);
  EXPECT_EQ(got.replies.size(), 8U);
  EXPECT_EQ(got.batches, 4);
}

// Reads of what only the device has are pending; where many are, batches are refused, and sent
// again after a pause. Every request has its own context back, once.
TEST(Sessions, ContextsComeBackAlsoOfWhatWasPendingOrRefused) {
  constexpr std::uint64_t kKeys = 3000;
  Served served(1, {.page_bits = 12, .pages = 4, .mutable_share = 0.5});
  ClientSession session(served.session(0, 200));
  Collected stored, got;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    while (!session.has_room()) receive(session, stored);
    session.add({Opcode::kUpsert, key, 7 * key});
  }
  wait_for_all(session, stored);
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    while (!session.has_room()) receive(session, got);
    session.add({Opcode::kRead, key, 0}, key + 1);
  }
  wait_for_all(session, got);
  EXPECT_GT(got.refused, 0);
  ASSERT_EQ(got.replies.size(), kKeys);
  std::vector<int> seen(kKeys, 0);
  for (std::size_t i = 0; i < kKeys; ++i) {
    ASSERT_EQ(got.replies[i].value, 7 * (got.contexts[i] - 1));
    ++seen[got.contexts[i] - 1];
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), kKeys);
}

// A client that sends nonsense loses its connection; the others do not notice.
TEST(Sessions, NonsenseEndsTheConnectionAlone) {
  Served served(1);
  ClientSession other(served.session());
  // No opening; an opening, and then a batch that means nothing.
  for (const bool is_opened : {false, true}) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(served.session().port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    std::array<std::byte, Welcome::kBytes> welcome;
    if (is_opened) {
      std::array<std::byte, Opening::kBytes> opening;
      write(opening.data(), Opening());
      ASSERT_EQ(::send(socket.get(), opening.data(), opening.size(), MSG_NOSIGNAL), 28);
      ASSERT_EQ(::recv(socket.get(), welcome.data(), welcome.size(), MSG_WAITALL), 29);
    }
    const std::string nonsense(100, '\xff');
    ASSERT_EQ(::send(socket.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL), 100);
    if (!is_opened) {  // it is told first
      ASSERT_EQ(::recv(socket.get(), welcome.data(), welcome.size(), MSG_WAITALL), 29);
      EXPECT_EQ(read_welcome(welcome.data()).status, WelcomeStatus::kFormat);
    }
    EXPECT_LE(::recv(socket.get(), welcome.data(), 1, 0), 0);  // closed
  }
  Collected got;
  other.add({Opcode::kUpsert, 1, 10});
  wait_for_all(other, got);
  EXPECT_EQ(got.replies.size(), 1U);
}

// Of each of several lengths, through a log that is smaller than the data.
TEST(Sessions, ValuesOfOtherLengths) {
  Served served(1, {.page_bits = 13, .pages = 4, .mutable_share = 0.5});
  std::uint64_t first = 0;
  for (const std::size_t bytes : {9, 16, 255, 4096}) {
    auto settings = served.session(0, 10);
    settings.value_bytes = bytes;
    ClientSession session(settings);
    struct Whole : ClientSession::Replies {
      void done(const Reply& reply, std::uint64_t context) override {
        EXPECT_EQ(reply.status, ReplyStatus::kOk);
        if (reply.opcode == Opcode::kRead)
          values[context] = {reply.bytes.begin(), reply.bytes.end()};
      }
      std::map<std::uint64_t, std::vector<std::byte>> values;
    } got;
    constexpr std::uint64_t kKeys = 200;
    const auto rest = [&](std::uint64_t key) {
      return std::vector(bytes - 8, static_cast<std::byte>(key));
    };
    const auto add = [&](const Request& request, const std::vector<std::byte>& of) {
      while (!session.has_room() || session.pending() > 40) receive(session, got);
      session.add(request, of, request.key);
    };
    for (std::uint64_t key = first; key < first + kKeys; ++key)
      add({Opcode::kUpsert, key, key}, rest(key));
    for (std::uint64_t key = first; key < first + kKeys; ++key)
      add({Opcode::kAdd, key, 1000}, rest(0));
    wait_for_all(session, got);
    for (std::uint64_t key = first; key < first + kKeys; ++key) add({Opcode::kRead, key, 0}, {});
    wait_for_all(session, got);
    ASSERT_EQ(got.values.size(), kKeys);
    for (const auto& [key, found] : got.values) {
      std::vector<std::byte> expected(8);
      wire::write(expected.data(), key + 1000);
      const auto behind = rest(key);
      expected.insert(expected.end(), behind.begin(), behind.end());
      ASSERT_EQ(found, expected) << bytes << " bytes, key " << key;
    }
    first += kKeys;
  }
  EXPECT_GT(served.store().log().head(), hybridlog::kFirstAddress);
}

TEST(Sessions, ValuesThatTheServerHasNot) {
  Served served(1, {.page_bits = 12, .pages = 8});
  auto settings = served.session();
  for (const std::size_t bytes : {0UL, 7UL, 2049UL, 0xFFFF'FFFFUL}) {
    settings.value_bytes = bytes;
    try {
      ClientSession session(settings);
      FAIL() << bytes;
    } catch (const SessionError& error) {
      EXPECT_NE(std::string(error.what()).find("expected 8 to 2048"), std::string::npos);
    }
  }
  settings.value_bytes = 2048;
  ClientSession session(settings);
}

// What was not served comes back with all of its value.
TEST(Sessions, LongerValuesAreTakenBackWhole) {
  struct Differing : Collected {
    void view_differs() override {}
  } got;
  Served served(1);
  auto settings = served.session(0, 2);
  settings.value_bytes = 20;
  ClientSession session(settings);
  session.set_view(7);
  const auto rest = [](std::uint64_t key) { return std::vector(12, static_cast<std::byte>(key)); };
  for (std::uint64_t key = 1; key <= 5; ++key)
    session.add({Opcode::kUpsert, key, key}, rest(key), key);
  session.hold(true);
  while (session.awaits_replies()) session.receive(got);
  const std::vector<ClientSession::Unserved> back = session.take_back();
  ASSERT_EQ(back.size(), 5U);
  session.set_view(1);
  session.hold(false);
  for (std::uint64_t key = 1; key <= 5; ++key) {
    EXPECT_EQ(back[key - 1].rest, rest(key));
    session.add_again(back[key - 1]);
  }
  wait_for_all(session, got);
  hybridlog::Epoch::Thread thread(served.store().epoch());
  thread.protect();
  hybridlog::Session store(served.store(), thread);
  for (std::uint64_t key = 1; key <= 5; ++key) {
    EXPECT_EQ(store.read_value(key).value, key);
    EXPECT_TRUE(std::ranges::equal(store.value().bytes().subspan(8), rest(key)));
  }
}

// Two batches are under way with another view than the server's, and a third one is filled.
TEST(Sessions, WhatAnotherViewRefusesIsTakenBackInItsOrder) {
  struct Differing : Collected {
    void view_differs() override { ++differing; }
    int differing = 0;
  } got;
  Served served(1);
  ClientSession session(served.session(0, 2));
  session.set_view(7);
  for (std::uint64_t key = 0; key < 5; ++key) session.add({Opcode::kAdd, key, 1}, 100 + key);
  session.hold(true);
  while (session.awaits_replies()) session.receive(got);
  EXPECT_EQ(got.differing, 2);
  EXPECT_EQ(session.outstanding(), 5U);
  const std::vector<ClientSession::Unserved> back = session.take_back();
  EXPECT_EQ(session.outstanding(), 0U);
  ASSERT_EQ(back.size(), 5U);
  session.set_view(1);
  session.hold(false);
  for (std::uint64_t key = 0; key < 5; ++key) {
    EXPECT_EQ(back[key].request.key, key);
    EXPECT_EQ(back[key].context, 100 + key);
    EXPECT_FALSE(back[key].is_told);
    if (key != 2) session.add_again(back[key]);  // that one is another server's by now
  }
  wait_for_all(session, got);
  EXPECT_EQ(got.contexts, (std::vector<std::uint64_t>{100, 101, 103, 104}));
  session.add({Opcode::kRead, 2, 0});
  session.add({Opcode::kRead, 3, 0});
  wait_for_all(session, got);
  EXPECT_EQ(got.replies[4].status, ReplyStatus::kNotFound);
  EXPECT_EQ(got.replies[5].value, 1U);
}

// A question what is committed has the number of the next request. Refused, and sent again before
// that request, it is refused behind it: the numbers of what is served must not be given again.
TEST(Sessions, NumbersOfWhatIsServedAreNotGivenAgain) {
  JustBusy server;
  {
    ClientSession session(
        {.port = server.port(), .batch_requests = 1, .most_kept = 2, .id = {.high = 1, .low = 1}});
    Collected got;
    const auto wait = [&, deadline = Deadline::after_seconds(20)] {
      session.flush();
      while (session.outstanding() > 0 && !deadline.passed()) receive(session, got);
      EXPECT_EQ(session.outstanding(), 0U);
    };
    for (const std::uint64_t key : {1, 2, 3}) session.add({Opcode::kUpsert, key, key});
    wait();
    session.hold(true);
    EXPECT_TRUE(session.take_back().empty());  // another view
    session.hold(false);
    session.add({Opcode::kUpsert, 4, 4});
    wait();
    EXPECT_EQ(got.replies.size(), 4U);
  }
  EXPECT_EQ(server.firsts(), (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST(Sessions, WhoDoesNotKnowOfViewsIsTold) {
  Served served(1);
  ClientSession session(served.session(0, 1));
  session.set_view(7);
  session.add({Opcode::kAdd, 1, 1});
  Collected got;
  EXPECT_THROW(while (true) session.receive(got), SessionError);
}

TEST(Sessions, OneThatIsOpenElsewhereIsRefused) {
  Served served(2);
  auto settings = served.session(0);
  settings.id = {1, 2};
  {
    ClientSession first(settings);
    Collected got;
    first.add({Opcode::kUpsert, 1, 10});
    wait_for_all(first, got);
    auto other = settings;
    other.port = served.session(1).port;
    EXPECT_THROW(ClientSession{other}, SessionError);
  }
  const auto again = open_once_free(settings);
  EXPECT_EQ(again->begins_after(), 1U);
  EXPECT_EQ(again->committed(), 0U);
}

// Takes nothing, or gives nothing, when it is told so.
class FailingDevice : public hybridlog::Device {
 public:
  explicit FailingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    return is_full ? std::make_error_code(std::errc::no_space_on_device)
                   : device_->write(offset, data, size);
  }
  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    return gives_nothing ? std::make_error_code(std::errc::io_error)
                         : device_->read(offset, data, size);
  }
  std::error_code sync() override { return device_->sync(); }

  std::atomic<bool> is_full{false}, gives_nothing{false};

 private:
  const std::unique_ptr<Device> device_;
};

// A server that has nothing: after the first one, as if that had been killed before a checkpoint.
class Life {
 public:
  explicit Life(bool is_full = false) { device_->is_full = is_full; }

  FailingDevice& device() { return *device_; }
  std::uint16_t port() const { return served_.session().port; }
  // Of what it stores nothing is committed.
  ClientSession::Settings session() const {
    auto settings = served_.session(0, 50);
    settings.id = {1, 1};
    settings.most_kept = 1000;
    return settings;
  }
  // What is there of keys from 0 on.
  std::map<std::uint64_t, std::uint64_t> values(std::uint64_t keys) const {
    ClientSession session(served_.session(0, 50));
    Collected got;
    for (std::uint64_t key = 0; key < keys; ++key) {
      while (!session.has_room()) receive(session, got);
      session.add({Opcode::kRead, key, 0}, key);
    }
    wait_for_all(session, got);
    std::map<std::uint64_t, std::uint64_t> found;
    for (std::size_t i = 0; i < got.replies.size(); ++i)
      if (got.replies[i].status == ReplyStatus::kOk) found[got.contexts[i]] = got.replies[i].value;
    return found;
  }

 private:
  ScratchDirectory directory_;
  FailingDevice* device_ =
      new FailingDevice(hybridlog::open_file(directory_.path() / "log"));  // the store's
  const Served served_{1,
                       {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
                       std::unique_ptr<hybridlog::Device>(device_)};
};

struct Losing : Collected {
  void lost_acknowledged(const Reply& reply) override {
    EXPECT_EQ(reply.status, ReplyStatus::kNoSpace);
    ++lost;
  }
  // Of requests with this status, by their contexts.
  std::map<std::uint64_t, std::uint64_t> told(ReplyStatus status) const {
    std::map<std::uint64_t, std::uint64_t> all;
    for (std::size_t i = 0; i < replies.size(); ++i)
      if (replies[i].status == status) all[contexts[i]] = contexts[i];
    return all;
  }
  std::uint64_t lost = 0;
};

constexpr std::uint64_t kStoredKeys = 2000;  // of 24 bytes, in memory of 16 KiB

// Each key's own number.
void store_keys(ClientSession& session, Losing& got) {
  for (std::uint64_t key = 0; key < kStoredKeys; ++key) {
    while (!session.has_room()) receive(session, got);
    session.add({Opcode::kUpsert, key, key}, key);
  }
  wait_for_all(session, got);
  ASSERT_EQ(got.replies.size(), kStoredKeys);
}

// Returns when all was sent again and answered.
void go_to(const Life& life, ClientSession& session, Losing& got) {
  session.reopen(life.port(), got);
  while (!session.is_idle()) receive(session, got);
}

TEST(Sessions, AnAcknowledgedRequestThatFailsWhenItIsSentAgainIsToldToBeLost) {
  Losing got;
  auto life = std::make_unique<Life>();
  ClientSession session(life->session());
  store_keys(session, got);
  EXPECT_EQ(got.told(ReplyStatus::kOk).size(), kStoredKeys);
  life = std::make_unique<Life>(/*is_full=*/true);
  go_to(*life, session, got);
  const auto there = life->values(kStoredKeys);
  EXPECT_GT(got.lost, 0U);
  EXPECT_EQ(there.size() + got.lost, kStoredKeys);
  // What was told to be lost stays lost, and is told once.
  const std::uint64_t lost = got.lost;
  life = std::make_unique<Life>();
  go_to(*life, session, got);
  EXPECT_EQ(life->values(kStoredKeys), there);
  EXPECT_EQ(got.lost, lost);
  EXPECT_EQ(got.replies.size(), kStoredKeys);
}

TEST(Sessions, WhoDoesNotExpectThatAcknowledgedRequestsAreLostCannotGoOn) {
  Losing got;
  auto life = std::make_unique<Life>();
  ClientSession session(life->session());
  store_keys(session, got);
  life = std::make_unique<Life>(/*is_full=*/true);
  Collected again;
  session.reopen(life->port(), again);
  EXPECT_THROW(while (!session.is_idle()) receive(session, again), LostRequest);
}

// The server has nothing of the session: whether it never had, or has forgotten it, cannot be
// known.
TEST(Sessions, WhoIsAwayForLongerThanServersRememberSessionsIsLost) {
  Losing got;
  auto life = std::make_unique<Life>();
  auto settings = life->session();
  settings.remembered = {};
  ClientSession session(settings);
  store_keys(session, got);
  life = std::make_unique<Life>();
  EXPECT_THROW(session.reopen(life->port(), got), LostSession);
  EXPECT_TRUE(life->values(kStoredKeys).empty());
}

// What was answered before is not outstanding: who ended by that would take it along.
TEST(Sessions, WhoHasToSendAgainIsNotIdle) {
  Losing got;
  auto life = std::make_unique<Life>();
  ClientSession session(life->session());
  store_keys(session, got);
  EXPECT_TRUE(session.is_idle());
  life = std::make_unique<Life>();
  session.reopen(life->port(), got);
  EXPECT_EQ(session.outstanding(), 0U);
  EXPECT_FALSE(session.is_idle());
  while (!session.is_idle()) receive(session, got);
  EXPECT_EQ(life->values(kStoredKeys).size(), kStoredKeys);
}

TEST(Sessions, ItIsKnownHowManyAcknowledgedChangesWereNotSentAgain) {
  Losing got;
  auto life = std::make_unique<Life>();
  ClientSession session(life->session());
  store_keys(session, got);
  for (std::uint64_t key = 0; key < 30; ++key) session.add({Opcode::kRead, key, 0}, key);
  wait_for_all(session, got);
  EXPECT_EQ(session.unreplayed(/*is_gone=*/false), 0U);
  life.reset();
  EXPECT_EQ(session.unreplayed(/*is_gone=*/true), kStoredKeys);
  life = std::make_unique<Life>();
  session.reopen(life->port(), got);
  EXPECT_EQ(session.unreplayed(/*is_gone=*/false), kStoredKeys);
  while (!session.is_idle()) receive(session, got);
  EXPECT_EQ(session.unreplayed(/*is_gone=*/false), 0U);
}

TEST(Sessions, WhatHadNoSpaceIsNotDoneWhenItIsSentAgain) {
  Losing got;
  auto life = std::make_unique<Life>(/*is_full=*/true);
  ClientSession session(life->session());
  store_keys(session, got);
  EXPECT_GT(got.told(ReplyStatus::kNoSpace).size(), 0U);
  life = std::make_unique<Life>();
  go_to(*life, session, got);
  EXPECT_EQ(life->values(kStoredKeys), got.told(ReplyStatus::kOk));
  EXPECT_EQ(got.lost, 0U);
}

TEST(Sessions, WhatTheDeviceDidNotGiveIsNotDoneWhenItIsSentAgain) {
  constexpr std::uint64_t kAdditions = 10;  // to the oldest keys
  Losing got;
  auto life = std::make_unique<Life>();
  ClientSession session(life->session());
  store_keys(session, got);
  const auto stored = life->values(kStoredKeys);
  life->device().gives_nothing = true;
  for (std::uint64_t key = 0; key < kAdditions; ++key) session.add({Opcode::kAdd, key, 5}, key);
  wait_for_all(session, got);
  EXPECT_EQ(got.told(ReplyStatus::kIoError).size(), kAdditions);
  life = std::make_unique<Life>();
  go_to(*life, session, got);
  EXPECT_EQ(life->values(kStoredKeys), stored);
  EXPECT_EQ(got.lost, 0U);
}

// Another store, which does not answer before it is told what.
class SilentLogs : public hybridlog::OtherLogs {
 public:
  explicit SilentLogs(hybridlog::Store& asking) : asking_(asking) {
    asking.elsewhere().read_by(this);
  }
  ~SilentLogs() override {
    answer(0);  // nobody hangs where a test has failed
    asking_.elsewhere().read_by(nullptr);
  }
  SilentLogs(const SilentLogs&) = delete;
  SilentLogs& operator=(const SilentLogs&) = delete;

  std::shared_ptr<Ticket> read(const hybridlog::Indirection& at, std::uint64_t key) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::make_shared<Ticket>(at, key));
    return asked_.back();
  }
  // All that was asked.
  void answer(std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    for (const auto& ticket : std::exchange(asked_, {})) {
      ticket->value.assign(hybridlog::bytes_of(value));
      ticket->finish(Found::kValue);
    }
  }

 private:
  hybridlog::Store& asking_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Ticket>> asked_;
};

// What covers the key is another store's.
void point_from(hybridlog::Store& store, std::uint64_t key) {
  constexpr std::uint64_t kMigration = 1;
  store.elsewhere().begin(kMigration, store.log().tail());
  hybridlog::Epoch::Thread thread(store.epoch());
  thread.protect();
  hybridlog::Session session(store, thread);
  ASSERT_EQ(session.point({.hash = hybridlog::hash_of(key),
                           .migration = kMigration,
                           .range = {0, UINT64_MAX},
                           .address = hybridlog::kFirstAddress,
                           .bits = 10,  // of 1,024 buckets
                           .log = 1}),
            hybridlog::Status::kOk);
}

// Another server does not answer, and the client that has asked for what it has goes: the worker
// serves others meanwhile, and the client's addition is done when there is an answer.
TEST(Sessions, WhoGoesWhileAnAdditionAsksAnotherServerHoldsUpNobody) {
  constexpr std::uint64_t kElsewhere = 1, kHere = 2;
  Served served(1);
  SilentLogs logs(served.store());
  point_from(served.store(), kElsewhere);
  auto settings = served.session(0, 2);
  settings.id = {1, 1};
  ClientSession other(served.session(0, 1));
  {
    ClientSession session(settings);
    Collected got;
    session.add({Opcode::kAdd, kElsewhere, 5});
    session.add({Opcode::kRead, kElsewhere, 0});
    while (session.pending() < 2) receive(session, got);
  }
  const std::int64_t deadline_ns = monotonic_ns() + 20 * kSecondNs;
  Collected got;
  for (std::uint64_t n = 1; n <= 100; ++n) {
    other.add({Opcode::kAdd, kHere, 1});
    while (other.outstanding() > 0) {
      receive(other, got);
      ASSERT_LT(monotonic_ns(), deadline_ns) << n;
    }
  }
  // It says that its requests are done when they are.
  EXPECT_THROW(ClientSession{settings}, SessionError);
  logs.answer(10);
  const auto again = open_once_free(settings);
  EXPECT_EQ(again->begins_after(), 2U);
  Collected found;
  again->add({Opcode::kRead, kElsewhere, 0});
  again->add({Opcode::kRead, kHere, 0});
  wait_for_all(*again, found);
  ASSERT_EQ(found.replies.size(), 2U);
  EXPECT_EQ(found.replies[0].value, 15U);
  EXPECT_EQ(found.replies[1].value, 100U);
}

TEST(Sessions, NobodyListens) {
  EXPECT_THROW(ClientSession({.address = "127.0.0.1", .port = 1}), SessionError);
  EXPECT_THROW(ClientSession({.address = "somewhere", .port = 1}), SessionError);
}

}  // namespace
}  // namespace turntable::shadowfax
