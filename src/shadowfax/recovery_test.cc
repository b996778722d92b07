// A server that is killed under load, again and again: of every session, what is there is what its
// requests up to one of them have done, and that one's number is what the session is told.

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
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

// How often a server is killed, how long it lives, and how often it makes checkpoints meanwhile.
struct Campaign {
  int kills;
  std::chrono::milliseconds interval;
  unsigned least_ms, most_ms;
  std::uint64_t compact_above_bytes;

  std::int64_t life_ns(workload::Random& random) const {
    return static_cast<std::int64_t>(least_ms + random.next() % (most_ms - least_ms)) *
           kMillisecondNs;
  }
};
// Many checkpoints in a second.
constexpr Campaign kShort{.kills = 12,
                          .interval = std::chrono::milliseconds(10),
                          .least_ms = 20,
                          .most_ms = 80,
                          .compact_above_bytes = std::uint64_t{16} * 4096};
// One every 2 s, as an experiment's server makes them: some 2 minutes.
constexpr Campaign kLong{.kills = 50,
                         .interval = std::chrono::milliseconds(2000),
                         .least_ms = 200,
                         .most_ms = 5000,
                         .compact_above_bytes = 4U << 20U};

// A server in a process of its own, which can be killed.
class KilledServer {
 public:
  KilledServer(const std::filesystem::path& directory, const Campaign& campaign) {
    std::array<int, 2> pipe;
    if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
    UniqueFd from(pipe[0]), to(pipe[1]);
    pid_ = ::fork();
    if (pid_ == 0) serve(directory, campaign, to.get());
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
  [[noreturn]] static void serve(const std::filesystem::path& directory, const Campaign& campaign,
                                 int to) {
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
           .checkpoints = {{.file = directory / "checkpoint.json", .interval = campaign.interval}},
           .compact_above_bytes = campaign.compact_above_bytes});
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

// How many requests were acknowledged.
struct Acknowledged : ClientSession::Replies {
  void done(const Reply& reply, std::uint64_t /*context*/) override {
    EXPECT_EQ(reply.status, ReplyStatus::kOk);
    ++count;
  }
  std::uint64_t count = 0;
};

struct Values : ClientSession::Replies {
  void done(const Reply& reply, std::uint64_t context) override { values[context] = reply.value; }
  std::map<std::uint64_t, std::uint64_t> values;  // of keys
};

ClientSession open(const KilledServer& server, std::uint64_t session, std::size_t batch,
                   std::size_t most_kept = 0, std::size_t value_bytes = kFewestValueBytes) {
  ClientSession::Settings settings{.port = server.port(session),
                                   .batch_requests = batch,
                                   .most_kept = most_kept,
                                   .value_bytes = value_bytes};
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

// What is there by the requests of every session up to one of them.
class Expected {
 public:
  Expected() : last_(kSessions + 1, 0) {
    for (std::uint64_t key = 0; key < kShared; ++key) values_[key] = 0;
    for (std::uint64_t session = 1; session <= kSessions; ++session)
      for (std::uint64_t i = 0; i < kOwn; ++i) values_[(session << 32U) + i] = 0;
  }

  // last: by session, never less than before.
  const std::map<std::uint64_t, std::uint64_t>& after(const std::vector<std::uint64_t>& last) {
    for (std::uint64_t session = 1; session <= kSessions; ++session) {
      while (last_[session] < last[session]) {
        const Request request = request_of(session, ++last_[session]);
        std::uint64_t& value = values_[request.key];
        value = request.opcode == Opcode::kAdd ? value + 1 : request.value;
      }
    }
    return values_;
  }

 private:
  std::vector<std::uint64_t> last_;
  std::map<std::uint64_t, std::uint64_t> values_;
};

// Clients die with the server: a prefix of every session is there, up to what it is told.
void kill_server_and_clients(const Campaign& campaign) {
  const ScratchDirectory directory;
  workload::Random random(1);
  Expected expected;
  std::vector<std::uint64_t> committed(kSessions + 1, 0), acknowledged = committed;
  std::vector<std::uint64_t> next(kSessions + 1, 0);
  std::set<hybridlog::Address> begins;  // of the log, which is compacted
  std::printf("life  killed after  session   committed   recovered  acknowledged      issued\n");
  std::int64_t lived_ns = 0;
  // More lives where the machine is so busy that nothing was compacted.
  for (int life = 0; life <= campaign.kills || begins.size() < 2; ++life) {
    ASSERT_LT(life, 10 * campaign.kills);
    const KilledServer server(directory.path(), campaign);
    std::vector<ClientSession> sessions;
    std::vector<std::uint64_t> last(kSessions + 1, 0);
    for (std::uint64_t i = 0; i <= kSessions; ++i) {
      sessions.push_back(open(server, i, i == 0 ? 50 : 7 * i));
      last[i] = sessions[i].begins_after();
      // What was called committed is there, and nothing that was never sent.
      EXPECT_GE(last[i], committed[i]) << "life " << life << ", session " << i;
      EXPECT_LE(last[i], next[i]) << "life " << life << ", session " << i;
      EXPECT_EQ(sessions[i].committed(), last[i]);
      if (life > 0 && i > 0) {
        std::printf("%4d  %10.2f s  %7lu  %10lu  %10lu  %12lu  %10lu\n", life,
                    static_cast<double>(lived_ns) / 1e9, i, committed[i], last[i], acknowledged[i],
                    next[i]);
      }
    }
    const auto& values = expected.after(last);
    ASSERT_EQ(read(sessions[0], values), values) << "life " << life;

    lived_ns = campaign.life_ns(random);
    const std::int64_t until_ns = monotonic_ns() + lived_ns;
    next = last;
    std::vector<Acknowledged> replies(kSessions + 1);
    while (monotonic_ns() < until_ns) {
      for (std::uint64_t i = 1; i <= kSessions; ++i) {
        while (sessions[i].has_room()) sessions[i].add(request_of(i, ++next[i]));
        go_on(sessions[i], replies[i]);
      }
    }
    for (std::uint64_t i = 1; i <= kSessions; ++i) {
      committed[i] = sessions[i].committed();
      acknowledged[i] = last[i] + replies[i].count;
    }
    if (const auto made = hybridlog::read_checkpoint(directory.path() / "checkpoint.json"))
      begins.insert(made->begin);
  }
  for (std::uint64_t i = 1; i <= kSessions; ++i) EXPECT_GT(committed[i], 0U);
}

TEST(Recovery, AKilledServerComesBackWithAPrefixOfEverySession) {
  kill_server_and_clients(kShort);
}
TEST(Recovery, DISABLED_FiftyPrefixes) {
  kill_server_and_clients(kLong);
}

// Every request is told once.
struct Told : ClientSession::Replies {
  void done(const Reply& reply, std::uint64_t context) override {
    EXPECT_EQ(reply.status, ReplyStatus::kOk);
    tell(context);
  }
  void recovered(Opcode /*opcode*/, std::uint64_t context) override { tell(context); }
  void tell(std::uint64_t context) {
    if (times.size() <= context) times.resize(context + 1);
    ++times[context];
  }
  std::vector<std::uint8_t> times{1};  // by number of a request, from 1 on: how often
};

// Clients live on: values are those of all requests, whether they were acknowledged before a kill
// or after it.
void kill_the_server_alone(const Campaign& campaign, std::size_t most_kept) {
  const ScratchDirectory directory;
  workload::Random random(2);
  auto server = std::make_unique<KilledServer>(directory.path(), campaign);
  std::vector<ClientSession> sessions;
  std::vector<Told> told(kSessions + 1);
  std::vector<std::uint64_t> last(kSessions + 1, 0);
  for (std::uint64_t i = 1; i <= kSessions; ++i)
    sessions.push_back(open(*server, i, 7 * i, most_kept));
  const auto play = [&](std::uint64_t i, bool adds) {
    ClientSession& session = sessions[i - 1];
    while (adds && session.has_room()) {
      ++last[i];
      session.add(request_of(i, last[i]), last[i]);
    }
    go_on(session, told[i]);
  };
  for (int life = 0; life < campaign.kills; ++life) {
    const std::int64_t until_ns = monotonic_ns() + campaign.life_ns(random);
    while (monotonic_ns() < until_ns)
      for (std::uint64_t i = 1; i <= kSessions; ++i) play(i, /*adds=*/true);
    server.reset();
    server = std::make_unique<KilledServer>(directory.path(), campaign);
    for (std::uint64_t i = 1; i <= kSessions; ++i) sessions[i - 1].reopen(server->port(i), told[i]);
  }
  for (std::uint64_t i = 1; i <= kSessions; ++i) {
    sessions[i - 1].flush();
    while (!sessions[i - 1].is_idle()) play(i, /*adds=*/false);
    ASSERT_TRUE(told[i].times == std::vector<std::uint8_t>(last[i] + 1, 1)) << "session " << i;
  }
  ClientSession reader = open(*server, 0, 50);
  Expected expected;
  const auto& values = expected.after(last);
  EXPECT_EQ(read(reader, values), values);
}

TEST(Recovery, LivingClientsSendAgainWhatWasLost) {
  kill_the_server_alone(kShort, 64);
}
TEST(Recovery, DISABLED_FiftyTimesSentAgain) {
  kill_the_server_alone(kLong, 20'000);
}

// A file system of its own, of so many bytes, for as long as it lives.
class SmallFileSystem {
 public:
  SmallFileSystem(const std::filesystem::path& at, std::size_t bytes) : at_(at) {
    std::filesystem::create_directory(at);
    const std::string size = "size=" + std::to_string(bytes);
    is_there_ = ::mount("none", at.c_str(), "tmpfs", 0, size.c_str()) == 0;
  }
  ~SmallFileSystem() {
    if (is_there_) ::umount2(at_.c_str(), MNT_DETACH);
  }
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;

  bool is_there() const noexcept { return is_there_; }

 private:
  const std::filesystem::path at_;
  bool is_there_;
};

// What became of requests, by their keys.
struct Answers : ClientSession::Replies {
  void done(const Reply& reply, std::uint64_t context) override {
    if (reply.status == ReplyStatus::kOk) stored[context] = context + 1;
    if (reply.status == ReplyStatus::kNoSpace) full[context] = 0;
    EXPECT_TRUE(reply.status == ReplyStatus::kOk || reply.status == ReplyStatus::kNoSpace);
  }
  void recovered(Opcode /*opcode*/, std::uint64_t /*context*/) override { FAIL(); }
  void lost_acknowledged(const Reply& reply) override {
    EXPECT_EQ(reply.status, ReplyStatus::kNoSpace);
    ++lost;
  }
  std::map<std::uint64_t, std::uint64_t> stored, full;  // full: with what is there of them, nothing
  std::uint64_t lost = 0;
};

// The device is full in the middle of the load: operations are answered with that, nothing that was
// stored is lost, and once there is space all goes on, checkpoints too. A server that is killed
// meanwhile has all again, unless the client is told; and nothing of what had no space.
TEST(Recovery, AFullDeviceLosesNothingAndCanBeUsedOnceThereIsSpace) {
  constexpr std::size_t kBytes = 16U << 20U, kFreeBytes = 256U << 10U;
  // Of a busy machine every record that is read and every batch takes long: there are few.
  constexpr std::size_t kValueBytes = 1000, kBatch = 10;
  const ScratchDirectory directory;
  const std::filesystem::path small = directory.path() / "small";
  const SmallFileSystem file_system(small, kBytes);
  if (!file_system.is_there()) GTEST_SKIP() << "mounting needs root";
  const std::filesystem::path taken = small / "taken";
  std::ofstream(taken) << std::string(kBytes - kFreeBytes, 'x');

  Campaign campaign = kShort;
  campaign.compact_above_bytes = 64U << 20U;  // never
  auto server = std::make_unique<KilledServer>(small, campaign);
  std::optional<ClientSession> session(
      open(*server, 1, kBatch, /*most_kept=*/100'000, kValueBytes));
  Answers answers;
  std::uint64_t next = 0;
  const auto store = [&] {
    session->add({Opcode::kUpsert, next, next + 1}, next);
    ++next;
  };
  const auto settle = [&] {
    session->flush();
    while (!session->is_idle()) go_on(*session, answers);
  };
  const auto store_until = [&](const auto& condition) {
    const std::int64_t deadline_ns = monotonic_ns() + 60 * kSecondNs;
    while (!condition()) {
      ASSERT_LT(monotonic_ns(), deadline_ns);
      while (session->has_room()) store();
      go_on(*session, answers);
    }
    settle();
  };
  store_until([&] { return !answers.full.empty(); });
  // In 256 KiB, of which checkpoints and indexes need a part.
  EXPECT_GT(answers.stored.size(), 100U);
  EXPECT_LT(answers.stored.size(), 300U);
  {
    ClientSession reader = open(*server, 0, kBatch, 0, kValueBytes);
    EXPECT_EQ(read(reader, answers.stored), answers.stored);
  }
  server.reset();
  server = std::make_unique<KilledServer>(small, campaign);
  session->reopen(server->port(1), answers);
  while (!session->is_idle()) go_on(*session, answers);
  {
    ClientSession reader = open(*server, 0, kBatch, 0, kValueBytes);
    const std::size_t before = answers.stored.size();
    for (const auto& [key, value] : read(reader, answers.stored))
      if (value == 0) answers.stored.erase(key);
    EXPECT_EQ(before - answers.stored.size(), answers.lost);
    EXPECT_EQ(read(reader, answers.stored), answers.stored);
    EXPECT_EQ(read(reader, answers.full), answers.full);
  }
  std::filesystem::remove(taken);
  const std::uint64_t full_until = next;
  const auto newest = [&] { return answers.stored.rbegin()->first; };
  store_until([&] { return newest() > full_until; });
  const std::uint64_t after = newest();  // request number after + 1
  // One by one: the device must not be full again before the checkpoint.
  while (session->committed() <= after) {
    store();
    settle();
  }
  const std::uint64_t committed = session->committed();

  session.reset();
  server.reset();
  server = std::make_unique<KilledServer>(small, campaign);
  session.emplace(open(*server, 1, kBatch, 0, kValueBytes));
  EXPECT_GE(session->begins_after(), committed);
  // The session's request number n stored key n - 1.
  auto expected = answers.stored;
  expected.erase(expected.lower_bound(session->begins_after()), expected.end());
  EXPECT_TRUE(expected.contains(after));
  ClientSession reader = open(*server, 0, kBatch, 0, kValueBytes);
  EXPECT_EQ(read(reader, expected), expected);
  EXPECT_EQ(read(reader, answers.full), answers.full);
}

}  // namespace
}  // namespace turntable::shadowfax
