// A server that is killed under load, again and again: of every session, what is there is what its
// requests up to one of them have done, and that one's number is what the session is told.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "common/clock.h"
#include "common/scratch_directory.h"
#include "common/unique_fd.h"
#include "hybridlog/checkpoint_file.h"
#include "shadowfax/client/client_session.h"
#include "shadowfax/server/store_server.h"
#include "workload/random.h"

namespace turntable::shadowfax {
namespace {

constexpr std::uint64_t kSessions = 3, kShared = 50, kOwn = 400;
constexpr unsigned kWorkers = 2;

// A server in a process of its own, which can be killed.
class KilledServer {
 public:
  explicit KilledServer(const std::filesystem::path& directory) {
    std::array<int, 2> pipe;
    if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
    UniqueFd from(pipe[0]), to(pipe[1]);
    pid_ = ::fork();
    if (pid_ == 0) serve(directory, to.get());
    to.reset();
    ports_.resize(kWorkers);
    const auto bytes = static_cast<ssize_t>(kWorkers * sizeof ports_[0]);
    if (::read(from.get(), ports_.data(), static_cast<std::size_t>(bytes)) != bytes)
      throw std::runtime_error("the server does not begin");
  }
  ~KilledServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  KilledServer(const KilledServer&) = delete;
  KilledServer& operator=(const KilledServer&) = delete;

  std::uint16_t port(std::uint64_t session) const { return ports_[session % kWorkers]; }

 private:
  // Of the child, which has no thread but its own ones.
  [[noreturn]] static void serve(const std::filesystem::path& directory, int to) {
    try {
      const StoreServer server(
          {.store = {.index_buckets = 256,
                     .log = {.page_bits = 12, .pages = 8, .mutable_share = 0.5},
                     .threads = 0,
                     .reader_threads = 2},
           .file = directory / "log",
           .worker = {},
           .workers = kWorkers,
           .cpus = {},
           .checkpoints = {{.file = directory / "checkpoint.json",
                            .interval = std::chrono::milliseconds(10)}},
           .compact_above_bytes = 16 * 4096});
      const std::vector<std::uint16_t> ports = server.ports();
      const auto bytes = static_cast<ssize_t>(ports.size() * sizeof ports[0]);
      if (::write(to, ports.data(), static_cast<std::size_t>(bytes)) == bytes) ::pause();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the server: %s\n", error.what());
    }
    ::_exit(1);
  }

  pid_t pid_;
  std::vector<std::uint16_t> ports_;
};

// Request n of a session: every third is an addition to a key that all sessions have, others store
// n under a key of the session's own.
Request request_of(std::uint64_t session, std::uint64_t number) {
  const std::uint64_t drawn = workload::SplitMix64::mix(session << 40U | number);
  if (number % 3 == 0) return {Opcode::kAdd, drawn % kShared, 1};
  return {Opcode::kUpsert, (session << 32U) + drawn % kOwn, number};
}

struct Nothing : ClientSession::Replies {
  void done(const Reply& reply, std::uint64_t /*context*/) override {
    EXPECT_EQ(reply.status, ReplyStatus::kOk);
  }
};

struct Values : ClientSession::Replies {
  void done(const Reply& reply, std::uint64_t context) override { values[context] = reply.value; }
  std::map<std::uint64_t, std::uint64_t> values;  // of keys
};

ClientSession open(const KilledServer& server, std::uint64_t session, std::size_t batch,
                   std::size_t most_kept = 0) {
  ClientSession::Settings settings{
      .port = server.port(session), .batch_requests = batch, .most_kept = most_kept};
  if (session > 0) settings.id = {7, session};
  return ClientSession(settings);
}

void go_on(ClientSession& session, ClientSession::Replies& replies) {
  session.receive(replies);
  if (session.pause_ends_ns() <= monotonic_ns()) session.go_on();
}

// What the store has under the keys of these.
std::map<std::uint64_t, std::uint64_t> read(ClientSession& session,
                                            const std::map<std::uint64_t, std::uint64_t>& keys) {
  Values found;
  for (const auto& [key, value] : keys) {
    while (!session.has_room()) go_on(session, found);
    session.add({Opcode::kRead, key, 0}, key);
  }
  session.flush();
  while (session.outstanding() > 0) go_on(session, found);
  return found.values;
}

// By the requests up to those that the sessions are told.
std::map<std::uint64_t, std::uint64_t> expected(const std::vector<std::uint64_t>& last) {
  std::map<std::uint64_t, std::uint64_t> values;
  for (std::uint64_t key = 0; key < kShared; ++key) values[key] = 0;
  for (std::uint64_t session = 1; session <= kSessions; ++session) {
    for (std::uint64_t i = 0; i < kOwn; ++i) values[(session << 32U) + i] = 0;
    for (std::uint64_t number = 1; number <= last[session]; ++number) {
      const Request request = request_of(session, number);
      if (request.opcode == Opcode::kAdd) {
        ++values[request.key];
      } else {
        values[request.key] = request.value;
      }
    }
  }
  return values;
}

TEST(Recovery, AKilledServerComesBackWithAPrefixOfEverySession) {
  constexpr int kLives = 12;
  const ScratchDirectory directory;
  workload::Random random(1);
  std::vector<std::uint64_t> committed(kSessions + 1, 0);
  std::set<hybridlog::Address> begins;  // of the log, which is compacted
  for (int life = 0; life < kLives; ++life) {
    const KilledServer server(directory.path());
    std::vector<ClientSession> sessions;
    std::vector<std::uint64_t> last(kSessions + 1, 0);
    for (std::uint64_t i = 0; i <= kSessions; ++i) {
      sessions.push_back(open(server, i, i == 0 ? 50 : 7 * i));
      last[i] = sessions[i].begins_after();
      // What was called committed is there.
      EXPECT_GE(last[i], committed[i]) << "life " << life << ", session " << i;
      EXPECT_EQ(sessions[i].committed(), last[i]);
    }
    const auto values = expected(last);
    ASSERT_EQ(read(sessions[0], values), values) << "life " << life;

    const std::int64_t until_ns =
        monotonic_ns() + static_cast<std::int64_t>(20 + random.next() % 60) * kMillisecondNs;
    std::vector<std::uint64_t> next = last;
    Nothing nothing;
    while (monotonic_ns() < until_ns) {
      for (std::uint64_t i = 1; i <= kSessions; ++i) {
        while (sessions[i].has_room()) sessions[i].add(request_of(i, ++next[i]));
        go_on(sessions[i], nothing);
      }
    }
    for (std::uint64_t i = 1; i <= kSessions; ++i) committed[i] = sessions[i].committed();
    if (const auto made = hybridlog::read_checkpoint(directory.path() / "checkpoint.json"))
      begins.insert(made->begin);
  }
  EXPECT_GT(begins.size(), 3U);
  for (std::uint64_t i = 1; i <= kSessions; ++i) EXPECT_GT(committed[i], 0U);
}

// Every request is told once.
struct Told : ClientSession::Replies {
  void done(const Reply& reply, std::uint64_t context) override {
    EXPECT_EQ(reply.status, ReplyStatus::kOk);
    ++times[context];
  }
  void recovered(Opcode /*opcode*/, std::uint64_t context) override {
    ++times[context];
    ++were_recovered;
  }
  std::map<std::uint64_t, int> times;  // number of a request -> how often
  std::uint64_t were_recovered = 0;
};

// Values are those of all requests, whether they were acknowledged before a kill or after it.
TEST(Recovery, LivingClientsSendAgainWhatWasLost) {
  constexpr int kLives = 12;
  constexpr std::size_t kMostKept = 64;
  const ScratchDirectory directory;
  workload::Random random(2);
  auto server = std::make_unique<KilledServer>(directory.path());
  std::vector<ClientSession> sessions;
  std::vector<Told> told(kSessions + 1);
  std::vector<std::uint64_t> last(kSessions + 1, 0);
  for (std::uint64_t i = 1; i <= kSessions; ++i)
    sessions.push_back(open(*server, i, 7 * i, kMostKept));
  const auto play = [&](std::uint64_t i, bool adds) {
    ClientSession& session = sessions[i - 1];
    while (adds && session.has_room()) {
      ++last[i];
      session.add(request_of(i, last[i]), last[i]);
    }
    go_on(session, told[i]);
  };
  for (int life = 0; life < kLives; ++life) {
    const std::int64_t until_ns =
        monotonic_ns() + static_cast<std::int64_t>(20 + random.next() % 60) * kMillisecondNs;
    while (monotonic_ns() < until_ns)
      for (std::uint64_t i = 1; i <= kSessions; ++i) play(i, /*adds=*/true);
    server.reset();
    server = std::make_unique<KilledServer>(directory.path());
    for (std::uint64_t i = 1; i <= kSessions; ++i) sessions[i - 1].reopen(server->port(i), told[i]);
  }
  for (std::uint64_t i = 1; i <= kSessions; ++i) {
    sessions[i - 1].flush();
    while (sessions[i - 1].outstanding() > 0) play(i, /*adds=*/false);
    ASSERT_EQ(told[i].times.size(), last[i]);
    for (const auto& [number, times] : told[i].times) ASSERT_EQ(times, 1) << number;
  }
  ClientSession reader = open(*server, 0, 50);
  const auto values = expected(last);
  EXPECT_EQ(read(reader, values), values);
}

}  // namespace
}  // namespace turntable::shadowfax
