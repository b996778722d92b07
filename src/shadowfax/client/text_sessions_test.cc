// Batches over loopback, at a server that says what the test wants.
#include "shadowfax/client/text_sessions.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/errno_error.h"
#include "common/unique_fd.h"
#include "shadowfax/client/open_sessions.h"

namespace turntable::shadowfax {
namespace {

constexpr std::size_t kBatch = 3, kPipeline = 2;
constexpr std::int64_t kLimitNs = 20 * kSecondNs;

struct TextAnswers : Sessions::Replies {
  void from(ServerNumber server) override { servers.push_back(server); }
  void done(const Reply& reply, std::uint64_t context) override {
    statuses.push_back(reply.status);
    values.push_back(reply.value);
    contexts.push_back(context);
  }
  void refused(std::string_view why) override { refusals.emplace_back(why); }
  void batch_done(std::int64_t round_trip_ns) override {
    ++batches;
    EXPECT_GT(round_trip_ns, 0);
  }
  std::vector<ServerNumber> servers;
  std::vector<ReplyStatus> statuses;
  std::vector<std::uint64_t> values, contexts;
  std::vector<std::string> refusals;
  int batches = 0;
};

// Listens, and has one connection.
class Server {
 public:
  Server() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0 ||
        ::listen(listener_.get(), 1) != 0 ||
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw errno_error("cannot listen");
    port_ = ntohs(at.sin_port);
  }
  ServerAddress address() const { return {.address = "127.0.0.1", .ports = {port_}}; }
  void accept() { peer_.reset(::accept(listener_.get(), nullptr, nullptr)); }
  // So many bytes of what the client has sent.
  std::string read(std::size_t bytes) {
    std::string text(bytes, '\0');
    EXPECT_EQ(::recv(peer_.get(), text.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
    return text;
  }
  bool has_more() {
    char byte = 0;
    return ::recv(peer_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
  }
  void write(std::string_view text) {
    EXPECT_EQ(::send(peer_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  void close() { peer_.reset(); }

 private:
  UniqueFd listener_, peer_;
  std::uint16_t port_ = 0;
};

class TextSessionsTest : public ::testing::Test {
 protected:
  void open(Protocol protocol) {
    sessions_ = open_sessions({.given = {server_.address()}, .protocol = protocol},
                              {.batch_requests = kBatch, .pipeline = kPipeline}, 0);
    server_.accept();
  }
  void add(Opcode opcode, std::uint64_t key) {
    sessions_->add({opcode, key, opcode == Opcode::kAdd ? 1U : 0U}, {}, 100 + key);
  }
  template <typename Condition>
  void wait_until(const Condition& condition) {
    const std::int64_t until_ns = monotonic_ns() + kLimitNs;
    while (!condition() && monotonic_ns() < until_ns) sessions_->wait(got_, 10);
    EXPECT_TRUE(condition());
  }

  Server server_;
  std::unique_ptr<Sessions> sessions_;
  TextAnswers got_;
};

constexpr std::string_view kThreeReads = "mg 0 v\r\nmg 1 v\r\nmg 2 v\r\n";

TEST_F(TextSessionsTest, ABatchGoesWhenItIsFullAndIsDoneWithItsLastAnswer) {
  open(Protocol::kMemcached);
  add(Opcode::kRead, 0);
  add(Opcode::kRead, 1);
  EXPECT_FALSE(server_.has_more());
  add(Opcode::kRead, 2);
  EXPECT_EQ(server_.read(kThreeReads.size()), kThreeReads);
  server_.write("EN\r\nVA 8\r\n41      \r\n");
  wait_until([&] { return got_.contexts.size() == 2; });
  EXPECT_EQ(got_.batches, 0);
  EXPECT_EQ(sessions_->outstanding(), 1U);
  server_.write("VA 1\r\n7\r\n");
  wait_until([&] { return got_.batches == 1; });
  EXPECT_EQ(got_.contexts, (std::vector<std::uint64_t>{100, 101, 102}));
  EXPECT_EQ(got_.values, (std::vector<std::uint64_t>{0, 41, 7}));
  EXPECT_EQ(got_.statuses.front(), ReplyStatus::kNotFound);
  EXPECT_EQ(sessions_->outstanding(), 0U);
}

// As many batches are under way as may be, and as many others are filled.
TEST_F(TextSessionsTest, APipelineHasRoomForItselfTwice) {
  open(Protocol::kMemcached);
  std::uint64_t added = 0;
  while (sessions_->has_room(0)) add(Opcode::kAdd, added++ % 10);
  EXPECT_EQ(added, 2 * kPipeline * kBatch);
  constexpr std::size_t kCommand = std::string_view("incr 0 1\r\n").size();
  server_.read(kPipeline * kBatch * kCommand);
  EXPECT_FALSE(server_.has_more());
  server_.write("1\r\n1\r\n1\r\n");
  wait_until([&] { return got_.batches == 1; });
  server_.read(kBatch * kCommand);
  EXPECT_FALSE(server_.has_more());
  EXPECT_EQ(sessions_->room(), kBatch);
}

TEST_F(TextSessionsTest, AFlushSendsWhatThereIs) {
  open(Protocol::kRedis);
  add(Opcode::kUpsert, 5);
  sessions_->flush();
  constexpr std::string_view kSet = "*3\r\n$3\r\nSET\r\n$1\r\n5\r\n$1\r\n0\r\n";
  EXPECT_EQ(server_.read(kSet.size()), kSet);
  server_.write("+OK\r\n");
  wait_until([&] { return got_.batches == 1; });
  EXPECT_EQ(got_.statuses, std::vector{ReplyStatus::kOk});
}

TEST_F(TextSessionsTest, AnswersByteByByteAreTheSame) {
  open(Protocol::kRedis);
  for (std::uint64_t key = 0; key < kBatch; ++key) add(Opcode::kRead, key);
  for (const char byte : std::string_view("$1\r\n4\r\n$-1\r\n$2\r\n17\r\n")) {
    server_.write({&byte, 1});
    sessions_->wait(got_, 10);
  }
  wait_until([&] { return got_.batches == 1; });
  EXPECT_EQ(got_.values, (std::vector<std::uint64_t>{4, 0, 17}));
}

TEST_F(TextSessionsTest, ErrorsAreAnswersAndAreNamed) {
  open(Protocol::kMemcached);
  for (std::uint64_t key = 0; key < kBatch; ++key) add(Opcode::kUpsert, key);
  server_.write("STORED\r\nSERVER_ERROR out of memory storing object\r\nERROR\r\n");
  wait_until([&] { return got_.batches == 1; });
  EXPECT_EQ(got_.statuses,
            (std::vector{ReplyStatus::kOk, ReplyStatus::kNoSpace, ReplyStatus::kIoError}));
  EXPECT_EQ(got_.refusals,
            (std::vector<std::string>{"SERVER_ERROR out of memory storing object", "ERROR"}));
  EXPECT_EQ(sessions_->lost_sessions(), 0U);
}

TEST_F(TextSessionsTest, AServerThatClosesIsLostAndSaysWhatWasNotAnswered) {
  open(Protocol::kRedis);
  for (std::uint64_t key = 0; key < kBatch; ++key) add(Opcode::kAdd, key);
  server_.write(":1\r\n");
  server_.close();
  wait_until([&] { return sessions_->lost_sessions() == 1; });
  EXPECT_NE(sessions_->lost_why(), "");
  EXPECT_EQ(sessions_->outstanding(), kBatch - got_.contexts.size());
  EXPECT_FALSE(sessions_->has_room(0));
  EXPECT_EQ(sessions_->room(), 0U);
}

TEST_F(TextSessionsTest, WhatIsNoAnswerEndsTheSession) {
  open(Protocol::kMemcached);
  for (std::uint64_t key = 0; key < kBatch; ++key) add(Opcode::kRead, key);
  server_.write("+OK\r\n");
  wait_until([&] { return sessions_->lost_sessions() == 1; });
  EXPECT_EQ(sessions_->lost_why(), "memcached answers \"+OK\", which is no answer to a read");
}

TEST_F(TextSessionsTest, AnAnswerToNothingEndsTheSession) {
  open(Protocol::kRedis);
  server_.write(":1\r\n");
  wait_until([&] { return sessions_->lost_sessions() == 1; });
  EXPECT_EQ(sessions_->lost_why(), "Redis answers what was not asked");
}

TEST_F(TextSessionsTest, AServerThatIsNotThereIsNamed) {
  ServerAddress nobody;
  {
    const Server gone;
    nobody = gone.address();
  }
  try {
    open_sessions({.given = {nobody}, .protocol = Protocol::kRedis}, {}, 0);
    FAIL() << "it has connected";
  } catch (const SessionError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(nobody.ports.front())),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace turntable::shadowfax
