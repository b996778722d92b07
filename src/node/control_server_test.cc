#include "node/control_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <latch>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/command_error.h"
#include "common/few_descriptors.h"
#include "node/control_client.h"
#include "node/testing.h"
#include "node/unix_socket.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

ControlClient::CallOptions within(double seconds) {
  ControlClient::CallOptions options;
  options.deadline = Deadline::after_seconds(seconds);
  return options;
}

// Generous: only what fails takes so long.
ControlClient::CallOptions soon() {
  return within(120);
}

class ControlServerTest : public ::testing::Test {
 protected:
  ControlServerTest() : server_(directory_.path(), "node") {}
  ~ControlServerTest() override { stop(); }

  void start() {
    thread_ = std::thread([this] { server_.run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    server_.request_shutdown();
    thread_.join();
  }
  // Sends raw bytes and returns the answer line as JSON.
  Json exchange(const std::string& line) {
    LineChannel channel(connect_unix(server_.socket_file()));
    const Deadline deadline = soon().deadline;
    channel.write_line(line, deadline);
    std::string answer;
    EXPECT_EQ(channel.read_line(answer, deadline), LineChannel::Status::kOk);
    return Json::parse(answer);
  }
  ControlClient client() { return ControlClient(directory_.path(), "node"); }

  ScratchDirectory directory_;
  ControlServer server_;
  std::thread thread_;
};

TEST_F(ControlServerTest, PingShowsNodePidVersionAndState) {
  server_.set_state("serving");
  start();
  const Json answer = exchange(R"({"id": 7, "command": "ping"})");
  EXPECT_EQ(answer["id"], 7);
  EXPECT_EQ(answer["ok"], true);
  EXPECT_EQ(answer["result"]["node"], "node");
  EXPECT_EQ(answer["result"]["pid"], ::getpid());
  EXPECT_EQ(answer["result"]["state"], "serving");
  EXPECT_FALSE(answer["result"]["version"].get<std::string>().empty());
}

TEST_F(ControlServerTest, ArgumentsReachTheHandlerAndItsResultComesBack) {
  server_.on("sum", [](const Json& args) -> Json {
    return args.at("a").get<int>() + args.at("b").get<int>();
  });
  start();
  EXPECT_EQ(client().call("sum", {{"a", 2}, {"b", 40}}, soon()), 42);
}

TEST_F(ControlServerTest, ErrorsOfHandlersKeepTheirCode) {
  server_.on("full", [](const Json&) -> Json { throw CommandError("full", "no slot is free"); });
  server_.on("broken", [](const Json&) -> Json { throw std::out_of_range("index 9"); });
  start();
  const Json full = exchange(R"({"id": 1, "command": "full"})");
  EXPECT_EQ(full["ok"], false);
  EXPECT_EQ(full["error"]["code"], "full");
  EXPECT_EQ(full["error"]["message"], "no slot is free");
  EXPECT_EQ(exchange(R"({"id": 1, "command": "broken"})")["error"]["code"], "internal");
}

TEST_F(ControlServerTest, MalformedRequestsAreAnsweredAndTheServerGoesOn) {
  start();
  const char* const malformed[] = {"{",
                                   "[]",
                                   "7",
                                   "\xff\xfe",
                                   R"({"id": 1})",
                                   R"({"id": 1e400, "command": "ping"})",
                                   R"({"command": 5})",
                                   R"({"command": "ping", "args": [1]})",
                                   R"({"id": [[1]], "command": "ping"})"};
  for (const char* line : malformed) {
    const Json answer = exchange(line);
    EXPECT_EQ(answer["ok"], false) << line;
    EXPECT_EQ(answer["error"]["code"], "bad_argument") << line;
  }
  EXPECT_EQ(exchange(R"({"id": 1, "command": "nonsense"})")["error"]["code"], "unknown_command");
  EXPECT_EQ(exchange(R"({"id": 1, "command": "ping"})")["ok"], true);
}

TEST_F(ControlServerTest, DeeplyNestedArgumentsAreRefused) {
  start();
  const auto nested = [&](std::size_t depth) {
    return exchange(R"({"command": "nonsense", "args": {"x": )" + std::string(depth, '[') +
                    R"("[[\"{")" + std::string(depth, ']') + "}}")["error"]["code"];
  };
  EXPECT_EQ(nested(62), "unknown_command");
  EXPECT_EQ(nested(63), "bad_argument");
  EXPECT_EQ(nested(1'000'000), "bad_argument");
}

TEST_F(ControlServerTest, AnswersThatAreNotUtf8AreRepaired) {
  server_.on("bytes", [](const Json&) -> Json { throw std::runtime_error("file \xff\xfe"); });
  start();
  EXPECT_EQ(exchange(R"({"id": 1, "command": "bytes"})")["error"]["code"], "internal");
}

TEST_F(ControlServerTest, LargeRequestsAndAnswersPass) {
  server_.on("echo", [](const Json& args) { return args; });
  start();
  const Json large = {{"text", std::string(20U << 20U, 'x')}};
  EXPECT_EQ(client().call("echo", large, within(600)), large);
}

TEST_F(ControlServerTest, OtherConnectionsAreServedWhileOneBlocks) {
  std::latch entered(1);
  std::latch release(1);
  server_.on("wait", [&](const Json&) -> Json {
    entered.count_down();
    release.wait();
    return "done";
  });
  start();
  std::thread waiter([&] { EXPECT_EQ(client().call("wait", {}, soon()), "done"); });
  entered.wait();
  EXPECT_EQ(client().call("ping", {}, soon())["node"], "node");
  release.count_down();
  waiter.join();
}

TEST_F(ControlServerTest, CallEndsAtItsDeadline) {
  std::latch release(1);
  server_.on("wait", [&](const Json&) -> Json {
    release.wait();
    return {};
  });
  start();
  try {
    client().call("wait", Json::object(), within(0.05));
    FAIL() << "no answer was possible";
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "timeout");
  }
  release.count_down();
  stop();  // the handler may only now begin to wait for `release`, which must outlive it
}

TEST_F(ControlServerTest, ShutdownAnswersWakesBlockedHandlersAndUnlinks) {
  std::latch entered(1);
  std::latch release(1);
  server_.on("wait", [&](const Json&) -> Json {
    entered.count_down();
    release.wait();
    return "woken";
  });
  server_.on_shutdown([&] { release.count_down(); });
  start();
  std::thread waiter([&] { EXPECT_EQ(client().call("wait", {}, soon()), "woken"); });
  entered.wait();
  EXPECT_EQ(exchange(R"({"id": 1, "command": "shutdown"})")["ok"], true);
  thread_.join();
  waiter.join();
  EXPECT_FALSE(std::filesystem::exists(server_.socket_file()));
}

TEST_F(ControlServerTest, IdleConnectionsDoNotDelayTheEnd) {
  start();
  ControlClient idle = client();
  idle.call("ping", Json::object(), soon());
  stop();
  EXPECT_THROW(idle.call("ping", Json::object(), soon()), CommandError);
}

TEST(ControlServer, SigtermEndsRun) {
  const ScratchDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ControlServer server(directory.path(), "node");
    server.on("raise", [](const Json&) -> Json { return ::raise(SIGTERM); });
    server.run();
    ::_exit(42);
  }
  ASSERT_TRUE(testing::eventually([&] {
    try {
      ControlClient(directory.path(), "node").call("raise", Json::object(), soon());
      return true;
    } catch (const CommandError&) {
      return false;
    }
  }));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << status;
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "node.sock"));
}

TEST(ControlServer, StaleSocketIsReplacedAndALiveOneIsNot) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "node.sock";
  { const UniqueFd dead = listen_unix(path); }  // closed without unlink, as after SIGKILL
  ASSERT_TRUE(std::filesystem::exists(path));
  ControlServer live(directory.path(), "node");
  EXPECT_THROW(ControlServer(directory.path(), "node"), std::runtime_error);
  EXPECT_TRUE(connect_unix(path)) << "the refused server must not take the live one's file away";
}

TEST(ControlServer, OnlyTheOwnerConnectsWhateverTheUmask) {
  const ScratchDirectory directory;
  using std::filesystem::perms;
  for (const mode_t mask : {0, 022, 077}) {
    const mode_t before = ::umask(mask);
    const UniqueFd listener = listen_unix(directory.path() / "node.sock");
    ::umask(before);
    EXPECT_EQ(std::filesystem::status(directory.path() / "node.sock").permissions(),
              perms::owner_read | perms::owner_write)
        << mask;
  }
}

TEST(ControlServer, OtherFilesAreNotReplaced) {
  const ScratchDirectory directory;
  std::ofstream(directory.path() / "node.sock") << "precious";
  EXPECT_THROW(ControlServer(directory.path(), "node"), std::runtime_error);
  EXPECT_EQ(testing::read_text(directory.path() / "node.sock"), "precious");
}

TEST(ControlServer, PathLongerThanSunPathIsAClearError) {
  const ScratchDirectory directory;
  const std::string name(sizeof(sockaddr_un::sun_path), 'n');
  try {
    const ControlServer server(directory.path(), name);
    FAIL() << "the path cannot fit";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("107"), std::string::npos) << error.what();
  }
}

TEST(ControlServer, NamesThatLeaveTheDirectoryAreRefused) {
  const ScratchDirectory directory;
  for (const char* name : {"", "..", "a/b", ".hidden"})
    EXPECT_THROW(ControlServer(directory.path(), name), CommandError) << name;
}

TEST(LineChannel, LineOverTheLimitIsRefusedAndExactlyTheLimitPasses) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  LineChannel writer((UniqueFd(ends[0])));
  LineChannel reader(UniqueFd(ends[1]), /*max_line_bytes=*/8);
  const Deadline deadline = soon().deadline;
  writer.write_line("12345678", deadline);
  std::string line;
  EXPECT_EQ(reader.read_line(line, deadline), LineChannel::Status::kOk);
  EXPECT_EQ(line, "12345678");
  writer.write_line("123456789", deadline);
  EXPECT_THROW(reader.read_line(line, deadline), CommandError);
}

TEST(LineChannel, WritingEndsWhenNobodyReads) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  LineChannel writer((UniqueFd(ends[0])));
  const UniqueFd reader(ends[1]);
  const std::string longer_than_its_buffer(8U << 20U, 'x');
  EXPECT_EQ(writer.write_line(longer_than_its_buffer, std::chrono::milliseconds(10)),
            LineChannel::Status::kTimeout);
}

TEST(LineChannel, SeveralLinesInOnePieceAreSplit) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  LineChannel reader((UniqueFd(ends[1])));
  ASSERT_EQ(::write(ends[0], "a\n\nbc\nrest", 10), 10);
  ::close(ends[0]);
  const Deadline deadline = soon().deadline;
  std::string line;
  for (const char* expected : {"a", "", "bc"}) {
    ASSERT_EQ(reader.read_line(line, deadline), LineChannel::Status::kOk);
    EXPECT_EQ(line, expected);
  }
  EXPECT_EQ(reader.read_line(line, deadline), LineChannel::Status::kClosed);
}

TEST_F(ControlServerTest, WithoutDescriptorsItWaitsAndThenAnswers) {
  start();
  // A connection that ended would free a descriptor.
  LineChannel first(connect_unix(server_.socket_file()));
  std::string answer;
  first.write_line(R"({"command": "ping"})", soon().deadline);
  ASSERT_EQ(first.read_line(answer, soon().deadline), LineChannel::Status::kOk);
  const UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, server_.socket_file().c_str(), sizeof(address.sun_path) - 1);
  const Deadline deadline = soon().deadline;
  {
    const turntable::testing::NoDescriptorLeft none;
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    while (server_.failed_accepts() == 0 && !deadline.passed()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(150));  // for what it must not do
  }
  EXPECT_GE(server_.failed_accepts(), 1U);
  EXPECT_LT(server_.failed_accepts(), 10U) << "it tries all the time";
  EXPECT_EQ(exchange(R"({"command": "ping"})")["ok"], true);
}

}  // namespace
}  // namespace turntable::node
