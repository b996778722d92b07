// Clients and workers over loopback.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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
                  const hybridlog::LogSettings& log = {.page_bits = 20, .pages = 8})
      : store_({.index_buckets = 1024, .log = log, .threads = workers, .reader_threads = 2},
               hybridlog::open_file(directory_.path() / "log")) {
    for (std::size_t i = 0; i < workers; ++i)
      workers_.push_back(std::make_unique<Worker>(store_, WorkerSettings{}));
    for (const auto& each : workers_) threads_.emplace_back([&each] { each->run(); });
  }
  ~Served() {
    for (const auto& each : workers_) each->stop();
  }

  ClientSession::Settings session(std::size_t worker = 0, std::size_t requests = 100) const {
    return {.port = workers_[worker]->port(),
            .batch_bytes = RequestHeader::kBytes + requests * Request::kBytes};
  }
  hybridlog::Store& store() { return store_; }

 private:
  ScratchDirectory directory_;
  hybridlog::Store store_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;
};

struct Collected : ClientSession::Replies {
  void done(const Reply& reply) override { replies.push_back(reply); }
  std::vector<Reply> replies;
};

void wait_for_all(ClientSession& session, ClientSession::Replies& replies) {
  session.flush();
  while (session.batches_under_way() + session.pending() > 0) session.receive(replies);
}

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
          while (!session.has_room() || session.pending() > 40) session.receive(got);
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

// A client that sends nonsense loses its connection; the others do not notice.
TEST(Sessions, NonsenseEndsTheConnectionAlone) {
  Served served(1);
  ClientSession other(served.session());
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{33}, std::size_t{100}}) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(served.session().port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string nonsense(bytes, '\xff');
    ASSERT_EQ(::send(socket.get(), nonsense.data(), bytes, MSG_NOSIGNAL), ssize_t(bytes));
    char byte = 0;
    EXPECT_LE(::recv(socket.get(), &byte, 1, 0), 0);  // closed
  }
  Collected got;
  other.add({Opcode::kUpsert, 1, 10});
  wait_for_all(other, got);
  EXPECT_EQ(got.replies.size(), 1U);
}

TEST(Sessions, NobodyListens) {
  EXPECT_THROW(ClientSession({.address = "127.0.0.1", .port = 1}), SessionError);
  EXPECT_THROW(ClientSession({.address = "somewhere", .port = 1}), SessionError);
}

}  // namespace
}  // namespace turntable::shadowfax
