#include "node/raw_section.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "common/command_error.h"
#include "common/scratch_directory.h"
#include "node/control_client.h"
#include "node/control_server.h"
#include "node/unix_socket.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;
using Status = LineChannel::Status;

// Generous: only what fails takes so long.
Deadline soon() {
  return Deadline::after_seconds(120);
}

Json raw(std::string_view bytes) {
  return Json::binary(Json::binary_t::container_type(bytes.begin(), bytes.end()));
}

TEST(RawSection, ValuesAnywhereInAMessageFollowItsLine) {
  const Json original = {
      {"id", 5}, {"args", {{"a", {raw("abc"), 7, {{"deep", raw("")}}}}, {"b", raw("\n{")}}}};
  Json message = original;
  const std::string section = detach_raw(message);
  EXPECT_EQ(section.size(), 5U);
  EXPECT_EQ(message["raw_bytes"], 5);
  message = Json::parse(message.dump());  // over the wire
  ASSERT_TRUE(has_raw(message));
  EXPECT_EQ(raw_bytes(message), 5U);
  attach_raw(message, section);
  EXPECT_EQ(message, original);
}

TEST(RawSection, MessagesWithoutBytesStayAsTheyAre) {
  const Json original = {{"id", 5}, {"args", {{"$raw", {0, 1}}}}};
  Json message = original;
  EXPECT_EQ(detach_raw(message), "");
  EXPECT_EQ(message, original);
  EXPECT_FALSE(has_raw(message));
}

TEST(RawSection, WhatIsNotWithinTheBytesIsRefused) {
  for (const char* place : {"[0, 5]", "[4, 1]", "[5, 0]", "[1, 18446744073709551615]", "[-1, 1]",
                            "[0]", "[0, 1, 2]", "[0.0, 1.0]", "7", "\"0\"", "null"}) {
    Json message = Json::parse(R"({"raw_bytes": 4, "args": {"$raw": )" + std::string(place) + "}}");
    EXPECT_THROW(attach_raw(message, "abcd"), CommandError) << place;
  }
  Json message = Json::parse(R"({"raw_bytes": 4, "args": [{"$raw": [4, 0]}, {"$raw": [0, 4]}]})");
  attach_raw(message, "abcd");
  EXPECT_EQ(message["args"], Json::array({raw(""), raw("abcd")}));
}

// Sent as they are, to a server whose `echo` answers with its arguments.
class RawMessagesTest : public ::testing::Test {
 protected:
  RawMessagesTest() : server_(directory_.path(), "node") {
    server_.on("echo", [this](const Json& args) {
      ++echoes_;
      return args;
    });
    thread_ = std::thread([this] { server_.run(); });
    channel_.emplace(connect_unix(server_.socket_file()));
  }
  ~RawMessagesTest() override {
    server_.request_shutdown();
    thread_.join();
  }

  void send(std::string_view line, std::string_view raw = {}) {
    EXPECT_EQ(channel_->write_line(line, soon(), raw), Status::kOk);
  }
  Json receive() {
    std::string line;
    EXPECT_EQ(channel_->read_line(line, soon()), Status::kOk);
    return Json::parse(line, nullptr, false);
  }
  bool is_closed() {
    std::string line;
    return channel_->read_line(line, soon()) == Status::kClosed;
  }
  std::string error() {
    const Json answer = receive();
    EXPECT_EQ(answer.value("ok", Json()), false) << answer;
    return answer.value("/error/message"_json_pointer, "");
  }

  ScratchDirectory directory_;
  ControlServer server_;
  std::atomic<int> echoes_ = 0;
  std::thread thread_;
  std::optional<LineChannel> channel_;
};

TEST_F(RawMessagesTest, BytesReachTheHandlerAndComeBack) {
  std::string bytes(3U << 20U, '\n');  // more than any socket buffer, and of line ends
  bytes.front() = bytes.back() = '\0';
  ControlClient client(directory_.path(), "node");
  const Json args = {{"a", raw(bytes)}, {"b", {1, raw("xyz")}}};
  EXPECT_EQ(client.call("echo", args, {}), args);
  EXPECT_EQ(client.call("echo", {{"c", 3}}, {}), (Json{{"c", 3}}));  // in step
}

TEST_F(RawMessagesTest, AnnouncedBytesBelongToTheirLineWhateverTheyAre) {
  send(R"({"id": 1, "command": "echo", "raw_bytes": 6})", "{}\n{}\n");
  EXPECT_EQ(receive()["ok"], true);
  send(R"({"id": 2, "command": "nonsense", "raw_bytes": 2})", "ab");
  EXPECT_NE(error().find("nonsense"), std::string::npos);
  send(R"({"id": 3, "command": "echo", "args": {"x": {"$raw": [0, 3]}}, "raw_bytes": 2})", "ab");
  EXPECT_NE(error().find("within the 2 raw bytes"), std::string::npos);
  send(R"({"id": 4, "command": "ping"})");
  EXPECT_EQ(receive()["id"], 4);
  EXPECT_EQ(echoes_, 1);
}

TEST_F(RawMessagesTest, MoreBytesThanAnnouncedAreALineOfTheirOwn) {
  send(R"({"id": 1, "command": "echo", "raw_bytes": 2})", "abcd\n");
  EXPECT_EQ(receive()["ok"], true);
  EXPECT_NE(error().find("not JSON"), std::string::npos);
}

TEST_F(RawMessagesTest, AnnouncementsThatAreNoLengthEndTheConnection) {
  for (const char* size : {"-1", "1.5", "\"2\"", "null", "[2]", "67108865", "18446744073709551615",
                           "99999999999999999999999"}) {
    channel_.emplace(connect_unix(server_.socket_file()));
    send(R"({"id": 1, "command": "echo", "raw_bytes": )" + std::string(size) + "}");
    EXPECT_NE(error().find("raw_bytes"), std::string::npos) << size;
    EXPECT_TRUE(is_closed()) << size;
  }
  EXPECT_EQ(echoes_, 0);
}

TEST_F(RawMessagesTest, NothingIsDoneIfTheBytesEndEarly) {
  send(R"({"id": 1, "command": "echo", "raw_bytes": 5})", "abcd");
  ::shutdown(channel_->fd(), SHUT_WR);
  EXPECT_NE(error().find("within the 5 raw bytes"), std::string::npos);
  EXPECT_TRUE(is_closed());
  EXPECT_EQ(echoes_, 0);
}

TEST(RawAnswers, OneThatEndsEarlyIsNoAnswer) {
  const ScratchDirectory directory;
  const UniqueFd listener = listen_unix(directory.path() / "node.sock");
  ControlClient client(directory.path(), "node");
  client.send("echo", Json::object(), soon());
  {
    LineChannel server(UniqueFd(::accept(listener.get(), nullptr, nullptr)));
    std::string line;
    ASSERT_EQ(server.read_line(line, soon()), Status::kOk);
    server.write_line(R"({"id": 1, "ok": true, "result": {"$raw": [0, 4]}, "raw_bytes": 4})",
                      soon(), "abc");
  }
  try {
    client.receive({});
    FAIL() << "a byte is missing";
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "unavailable");
  }
}

TEST(LineChannel, BytesBehindALineWaitForTheRest) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  LineChannel writer((UniqueFd(ends[0])));
  LineChannel reader((UniqueFd(ends[1])));
  writer.write_line("line", soon(), "abc");
  std::string text;
  ASSERT_EQ(reader.read_line(text, soon()), Status::kOk);
  EXPECT_EQ(reader.read_bytes(text, 5, Deadline::after_seconds(0)), Status::kTimeout);
  writer.write_line("de", soon());
  ASSERT_EQ(reader.read_bytes(text, 5, soon()), Status::kOk);
  EXPECT_EQ(text, "abcde");
  ASSERT_EQ(reader.read_line(text, soon()), Status::kOk);
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace turntable::node
