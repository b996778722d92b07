// How sessions are opened, by clients that know the secret and by strangers that do not.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/deadline.h"
#include "common/scratch_directory.h"
#include "common/unique_fd.h"
#include "net/testing_credentials.h"
#include "shadowfax/client/client_session.h"
#include "shadowfax/server/session_opening.h"
#include "shadowfax/server/worker.h"

namespace turntable::shadowfax {
namespace {

using Bytes = std::vector<std::uint8_t>;
using net::testing::credentials;
using net::testing::credentials_of_another_run;

constexpr std::size_t kChallengeBytes = 4 + 32;  // net/handshake.h

Bytes opening_bytes(const Opening& opening = {}) {
  Bytes bytes(Opening::kBytes);
  write(std::as_writable_bytes(std::span(bytes)).data(), opening);
  return bytes;
}

// The refusal, or nothing where the bytes are taken.
std::optional<OpeningRefusal> refusal_of(SessionOpening& opening,
                                         std::span<const std::uint8_t> bytes,
                                         std::vector<std::byte>& out) {
  try {
    opening.receive(bytes, out);
  } catch (const OpeningRefused& refused) {
    return refused.refusal();
  }
  return std::nullopt;
}

WelcomeStatus status_of(const std::vector<std::byte>& out) {
  return read_welcome(out.data()).status;
}

net::ConnectorHandshake connector_of(const net::Credentials& credentials,
                                     net::Purpose purpose = net::Purpose::kBatches) {
  return {credentials.secret(), credentials.next(), purpose};
}

// What the client of the credentials answers a server that has said this.
Bytes proof_for(const std::vector<std::byte>& said, net::ConnectorHandshake& client) {
  Bytes in, proof;
  for (std::size_t i = Welcome::kBytes; i < said.size(); ++i)
    in.push_back(static_cast<std::uint8_t>(said[i]));
  client.receive(in, proof);
  return proof;
}

TEST(SessionOpening, WithoutASecretTheOpeningIsAll) {
  SessionOpening opening(std::nullopt);
  std::vector<std::byte> out;
  Bytes bytes = opening_bytes({.session_high = 1, .session_low = 2});
  bytes.push_back(7);  // of a batch
  const auto opened = opening.receive(bytes, out);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->session_low, 2U);
  EXPECT_TRUE(out.empty());
  ASSERT_EQ(opening.rest().size(), 1U);
  EXPECT_EQ(opening.rest()[0], 7);
}

// By one byte at a time.
TEST(SessionOpening, WhoKnowsTheSecretIsLetIn) {
  SessionOpening opening(credentials().secret());
  std::vector<std::byte> out;
  std::optional<Opening> opened;
  const auto say = [&](const Bytes& bytes) {
    for (const std::uint8_t byte : bytes) {
      EXPECT_FALSE(opened);
      opened = opening.receive(std::span(&byte, 1), out);
    }
  };
  say(opening_bytes({.session_high = 3}));
  EXPECT_EQ(status_of(out), WelcomeStatus::kProve);
  EXPECT_EQ(out.size(), Welcome::kBytes + kChallengeBytes);
  net::ConnectorHandshake client = connector_of(credentials());
  const Bytes proof = proof_for(out, client);
  out.clear();
  say(proof);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->session_high, 3U);
  Bytes admitted, nothing;
  for (const std::byte byte : out) admitted.push_back(static_cast<std::uint8_t>(byte));
  client.receive(admitted, nothing);
  EXPECT_TRUE(client.is_done());
}

TEST(SessionOpening, AnotherSecretIsRefused) {
  SessionOpening opening(credentials().secret());
  std::vector<std::byte> out;
  opening.receive(opening_bytes(), out);
  const net::Credentials other = credentials_of_another_run();
  net::ConnectorHandshake client = connector_of(other);
  EXPECT_EQ(refusal_of(opening, proof_for(out, client), out), OpeningRefusal::kUnproven);
}

// Nor the other way round: whoever has the port of a server that is dead could pass it on.
TEST(SessionOpening, AProofOfAControlLinkIsNone) {
  SessionOpening opening(credentials().secret());
  std::vector<std::byte> out;
  opening.receive(opening_bytes(), out);
  net::ConnectorHandshake client = connector_of(credentials(), net::Purpose::kControl);
  EXPECT_EQ(refusal_of(opening, proof_for(out, client), out), OpeningRefusal::kUnproven);
}

TEST(SessionOpening, AProofIsOfOneConnectionAlone) {
  SessionOpening first(credentials().secret()), second(credentials().secret());
  std::vector<std::byte> out;
  first.receive(opening_bytes(), out);
  net::ConnectorHandshake client = connector_of(credentials());
  const Bytes proof = proof_for(out, client);
  EXPECT_TRUE(first.receive(proof, out));
  second.receive(opening_bytes(), out);
  EXPECT_EQ(refusal_of(second, proof, out), OpeningRefusal::kUnproven);
}

// That comes with the opening, so that nobody waits for an answer to it.
TEST(SessionOpening, AnOpeningWithoutAProofOpensNothing) {
  SessionOpening opening(credentials().secret());
  std::vector<std::byte> out;
  Bytes bytes = opening_bytes();
  bytes.insert(bytes.end(), 300, 0);  // batches
  EXPECT_EQ(refusal_of(opening, bytes, out), OpeningRefusal::kUnproven);
}

TEST(SessionOpening, AnotherFormatIsToldAtOnce) {
  constexpr std::uint64_t kBefore = 0x0000'0002'676F'6C68;
  for (const auto& secret : {std::optional<std::string>(), std::optional(credentials().secret())}) {
    SessionOpening opening(secret);
    std::vector<std::byte> out;
    EXPECT_EQ(refusal_of(opening, opening_bytes({.format = kBefore}), out),
              OpeningRefusal::kFormat);
    EXPECT_EQ(status_of(out), WelcomeStatus::kFormat);
  }
}

TEST(SessionOpening, GarbageIsRefusedByItsFirstByte) {
  for (int first = 0; first < 256; ++first) {
    if (first == 'h') continue;
    SessionOpening opening(credentials().secret());
    std::vector<std::byte> out;
    const auto byte = static_cast<std::uint8_t>(first);
    EXPECT_EQ(refusal_of(opening, std::span(&byte, 1), out), OpeningRefusal::kFormat) << first;
  }
}

// A worker with a secret.
class Guarded {
 public:
  explicit Guarded(std::chrono::nanoseconds opening_time = WorkerSettings().opening_time)
      : store_({.index_buckets = 64, .log = {.page_bits = 12, .pages = 4}, .threads = 1},
               hybridlog::open_file(directory_.path() / "log")),
        worker_(store_, commits_, serving_, nullptr, settings(opening_time)),
        thread_([this] { worker_.run(); }) {}
  ~Guarded() { worker_.stop(); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  ClientSession::Settings session(std::optional<net::Credentials> shown) const {
    return {.port = worker_.port(), .batch_requests = 1, .credentials = std::move(shown)};
  }
  std::int64_t refused(OpeningRefusal refusal) const {
    return worker_.read().refused_openings.at(static_cast<std::size_t>(refusal));
  }
  std::int64_t sessions() const { return worker_.read().sessions; }

  // from: an address of this machine.
  UniqueFd connect(in_addr_t from = INADDR_LOOPBACK) const {
    const auto address = [](in_addr_t of, std::uint16_t port) {
      return sockaddr_in{.sin_family = AF_INET,
                         .sin_port = htons(port),
                         .sin_addr = {.s_addr = htonl(of)},
                         .sin_zero = {}};
    };
    const sockaddr_in own = address(from, 0), at = address(INADDR_LOOPBACK, worker_.port());
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    return socket;
  }

 private:
  static WorkerSettings settings(std::chrono::nanoseconds opening_time) {
    WorkerSettings settings;
    settings.secret = credentials().secret();
    settings.opening_time = opening_time;
    return settings;
  }

  ScratchDirectory directory_;
  hybridlog::Store store_;
  const Commits commits_;
  const Serving serving_;
  Worker worker_;
  std::jthread thread_;
};

// The server hangs up; what it says before is read.
void expect_end(const UniqueFd& socket) {
  std::array<char, 512> bytes;
  ssize_t count = 1;
  while (count > 0) count = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
  EXPECT_LE(count, 0);
}

// Stores under key 1, and reads.
void expect_served(const ClientSession::Settings& settings) {
  struct Read : ClientSession::Replies {
    void done(const Reply& reply, std::uint64_t) override { value = reply.value; }
    std::uint64_t value = 0;
  } read;
  ClientSession session(settings);
  session.add({Opcode::kUpsert, 1, 10});
  session.add({Opcode::kRead, 1, 0});
  session.flush();
  const Deadline deadline = Deadline::after_seconds(20);
  while (!session.is_idle() && !deadline.passed()) session.receive(read);
  EXPECT_EQ(read.value, 10U);
}

std::string why_not(const ClientSession::Settings& settings) {
  try {
    const ClientSession session(settings);
  } catch (const SessionError& error) {
    return error.what();
  }
  return "";
}

TEST(Opening, ClientsOfTheSecretAreServedAndOthersAreToldWhatToDo) {
  const Guarded guarded;
  expect_served(guarded.session(credentials()));
  EXPECT_NE(why_not(guarded.session(std::nullopt)).find("expected --secret FILE"),
            std::string::npos);
  EXPECT_NE(why_not(guarded.session(credentials_of_another_run())).find("expected the same one"),
            std::string::npos);
  expect_served(guarded.session(credentials()));
  EXPECT_EQ(guarded.refused(OpeningRefusal::kUnproven), 1);
  EXPECT_EQ(guarded.sessions(), 2);
}

TEST(Opening, StrangersAreHungUpOnAndCounted) {
  const Guarded guarded;
  const auto say = [&](const Bytes& bytes) {
    const UniqueFd socket = guarded.connect();
    ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    expect_end(socket);
  };
  const std::string http = "GET / HTTP/1.1\r\n\r\n";
  say({http.begin(), http.end()});
  EXPECT_EQ(guarded.refused(OpeningRefusal::kFormat), 1);
  Bytes unproven = opening_bytes();
  unproven.insert(unproven.end(), 300, 0);
  say(unproven);
  EXPECT_EQ(guarded.refused(OpeningRefusal::kUnproven), 1);
  EXPECT_EQ(guarded.sessions(), 0);
}

// It says half an opening, and the next one nothing. They have their time, and no more.
TEST(Opening, WhoDoesNotOpenInTimeIsHungUpOn) {
  const Guarded guarded;
  const UniqueFd half = guarded.connect(), silent = guarded.connect();
  const Bytes bytes = opening_bytes();
  ::send(half.get(), bytes.data(), bytes.size() / 2, MSG_NOSIGNAL);
  expect_served(guarded.session(credentials()));
  expect_end(half);
  expect_end(silent);
  EXPECT_EQ(guarded.refused(OpeningRefusal::kSilent), 2);
}

// More than may be opened at once: the oldest go, and whoever knows the secret gets in.
TEST(Opening, ManyThatSayNothingKeepNobodyOut) {
  constexpr std::size_t kStrangers = 300, kMost = 64;
  const Guarded guarded(std::chrono::minutes(10));  // a slow machine takes long for so many
  std::vector<UniqueFd> strangers;
  for (std::size_t i = 0; i < kStrangers; ++i) strangers.push_back(guarded.connect());
  expect_served(guarded.session(credentials()));
  // The oldest ones had to go for it, and for the strangers behind them.
  for (std::size_t i = 0; i <= kStrangers - kMost; ++i) expect_end(strangers[i]);
  EXPECT_GE(guarded.refused(OpeningRefusal::kCrowded),
            static_cast<std::int64_t>(kStrangers - kMost));
}

void say(const UniqueFd& socket, const Bytes& bytes) {
  ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// A client has its challenge. Before it has answered strangers come, from an address, and say
// something or nothing.
void expect_to_be_let_in_among(in_addr_t strangers_from, const Bytes& said) {
  constexpr std::size_t kStrangers = 300, kMost = 64;
  const Guarded guarded(std::chrono::minutes(10));
  const UniqueFd socket = guarded.connect();
  say(socket, opening_bytes());
  std::vector<std::byte> challenge(Welcome::kBytes + kChallengeBytes);
  ASSERT_EQ(::recv(socket.get(), challenge.data(), challenge.size(), MSG_WAITALL),
            static_cast<ssize_t>(challenge.size()));
  std::vector<UniqueFd> strangers;
  for (std::size_t i = 0; i < kStrangers; ++i) {
    strangers.push_back(guarded.connect(strangers_from));
    if (!said.empty()) say(strangers.back(), said);
  }
  for (std::size_t i = 0; i < kStrangers - kMost; ++i) expect_end(strangers[i]);
  net::ConnectorHandshake client = connector_of(credentials());
  say(socket, proof_for(challenge, client));
  std::byte admitted{};
  EXPECT_EQ(::recv(socket.get(), &admitted, sizeof admitted, 0), 1);
  EXPECT_EQ(guarded.refused(OpeningRefusal::kUnproven), 0);
}

TEST(Opening, ManyThatSayNothingPushOutNobodyWhoProvesHimself) {
  expect_to_be_let_in_among(INADDR_LOOPBACK, {});
}

TEST(Opening, ManyOfOneAddressPushOutNobodyOfAnother) {
  expect_to_be_let_in_among(INADDR_LOOPBACK + 1, opening_bytes());
}

TEST(Opening, AServerWithoutTheSecretIsNoServerForWhoHasOne) {
  const ScratchDirectory directory;
  hybridlog::Store store({.index_buckets = 64, .log = {.page_bits = 12, .pages = 4}, .threads = 1},
                         hybridlog::open_file(directory.path() / "log"));
  const Commits commits;
  const Serving serving;
  Worker worker(store, commits, serving, nullptr, WorkerSettings{});
  {
    const std::jthread thread([&] { worker.run(); });
    EXPECT_NE(why_not({.port = worker.port(), .credentials = credentials()})
                  .find("does not prove that it knows the secret"),
              std::string::npos);
    worker.stop();
  }
}

TEST(Opening, WithoutASecretAServerIsOfItsMachineAlone) {
  const ScratchDirectory directory;
  hybridlog::Store store({.index_buckets = 64, .log = {.page_bits = 12, .pages = 4}, .threads = 1},
                         hybridlog::open_file(directory.path() / "log"));
  const Commits commits;
  const Serving serving;
  const auto listen_at = [&](const std::string& address, std::optional<std::string> secret) {
    WorkerSettings settings;
    settings.address = address;
    settings.secret = std::move(secret);
    const Worker worker(store, commits, serving, nullptr, settings);
  };
  EXPECT_NO_THROW(listen_at("127.0.0.1", std::nullopt));
  EXPECT_NO_THROW(listen_at("127.255.3.4", std::nullopt));
  EXPECT_NO_THROW(listen_at("0.0.0.0", credentials().secret()));
  EXPECT_THROW(listen_at("0.0.0.0", std::nullopt), std::invalid_argument);
  EXPECT_THROW(listen_at("128.0.0.1", std::nullopt), std::invalid_argument);
}

}  // namespace
}  // namespace turntable::shadowfax
