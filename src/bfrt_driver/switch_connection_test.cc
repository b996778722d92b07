#include "bfrt_driver/switch_connection.h"

#include <gtest/gtest.h>

#include <thread>

#include "bfrt_driver/call_errors.h"
#include "bfrt_driver/digest_queue.h"
#include "bfrt_driver/switch_calls.h"
#include "bfrt_driver/testing_switch.h"

namespace turntable::bfrt_driver {
namespace {

using testing::FakeSwitch;

constexpr double kSoonS = 1.0;   // where the deadline is what is tested
constexpr double kLongS = 60.0;  // where something must happen before it

ConnectionOptions options_for(const FakeSwitch& fake) {
  ConnectionOptions options;
  options.address = fake.address();
  options.client_id = 7;
  options.program = "toy";
  options.call_deadline_s = kLongS;
  return options;
}

// The code and text of the error that `run` ends with.
template <class Run>
std::pair<std::string, std::string> error_of_run(const Run& run) {
  try {
    run();
  } catch (const CommandError& error) {
    return {error.code(), error.what()};
  }
  return {"", "no error"};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bfrt_proto::WriteRequest some_write() {
  auto request = SwitchCalls::write_request();
  auto& entry = *request.add_updates()->mutable_entity()->mutable_table_entry();
  entry.set_table_id(testing::kRoute);
  request.mutable_updates(0)->set_type(bfrt_proto::Update::INSERT);
  return request;
}

bfrt_proto::ReadRequest some_read() {
  auto request = SwitchCalls::read_request();
  request.add_entities()->mutable_table_entry()->set_table_id(testing::kRoute);
  return request;
}

TEST(SwitchConnection, binds_and_knows_the_tables_of_the_switch) {
  FakeSwitch fake;
  SwitchConnection connection(options_for(fake));
  EXPECT_EQ(connection.state(), ConnectionState::kDisconnected);
  const auto schema = connection.bound(connection.call_deadline());
  EXPECT_EQ(connection.state(), ConnectionState::kBound);
  EXPECT_EQ(schema->table("route").id, testing::kRoute);
  EXPECT_EQ(schema->table("$mirror.cfg").id, testing::kMirror);
  EXPECT_EQ(*fake.owner, 7U);
}

TEST(SwitchConnection, gives_id_and_program_back_at_its_end) {
  FakeSwitch fake;
  for (int i = 0; i < 3; ++i) {
    SwitchConnection connection(options_for(fake));
    connection.bound(connection.call_deadline());
  }
}

TEST(SwitchConnection, names_an_address_where_nobody_answers) {
  FakeSwitch fake;
  const auto options = options_for(fake);
  fake.end();
  SwitchConnection connection(options);
  const auto [code, text] =
      error_of_run([&] { connection.bound(Deadline::after_seconds(kSoonS)); });
  EXPECT_EQ(code, "unavailable");
  EXPECT_TRUE(contains(text, options.address)) << text;
}

TEST(SwitchConnection, says_both_names_where_another_program_is_loaded) {
  FakeSwitch fake("other");
  SwitchConnection connection(options_for(fake));
  const auto [code, text] = error_of_run([&] { connection.bound(connection.call_deadline()); });
  EXPECT_EQ(code, "wrong_state");
  EXPECT_TRUE(contains(text, "runs program other; expected toy")) << text;
}

TEST(SwitchConnection, names_what_differs_in_another_version_of_the_program) {
  FakeSwitch fake;
  fake.schema["tables"][0]["action_specs"][0]["data"][0]["type"]["width"] = 16;
  auto options = options_for(fake);
  options.expected = testing::toy_schema();
  SwitchConnection connection(options);
  const auto [code, text] = error_of_run([&] { connection.bound(connection.call_deadline()); });
  EXPECT_EQ(code, "wrong_state");
  EXPECT_TRUE(
      contains(text, "the switch lacks table pipe.In.route, action In.send, data port: bit<9>"))
      << text;
  EXPECT_TRUE(contains(text, "only the switch has")) << text;
}

TEST(SwitchConnection, ids_of_another_compilation_make_no_difference) {
  FakeSwitch fake;
  auto options = options_for(fake);
  options.expected = testing::toy_schema();
  (*options.expected)["tables"][0]["id"] = 99;
  SwitchConnection connection(options);
  EXPECT_NO_THROW(connection.bound(connection.call_deadline()));
}

TEST(SwitchConnection, asks_a_busy_switch_again) {
  FakeSwitch fake;
  SwitchConnection connection(options_for(fake));
  connection.bound(connection.call_deadline());
  fake.busy = 3;
  connection.write(some_write(), connection.call_deadline());
  EXPECT_EQ(fake.busy, 0);
  EXPECT_EQ(fake.writes.size(), 1U);
}

TEST(SwitchConnection, says_that_a_switch_stays_busy) {
  FakeSwitch fake;
  SwitchConnection connection(options_for(fake));
  connection.bound(connection.call_deadline());
  fake.busy = 1'000'000;
  const auto [code, text] =
      error_of_run([&] { connection.write(some_write(), Deadline::after_seconds(kSoonS)); });
  EXPECT_TRUE(code == "unavailable" || code == "timeout") << code;
  EXPECT_TRUE(fake.writes.empty());
}

TEST(SwitchConnection, names_the_owner_of_its_id) {
  FakeSwitch fake;
  fake.ids.insert(7);
  SwitchConnection connection(options_for(fake));
  const auto [code, text] =
      error_of_run([&] { connection.bound(Deadline::after_seconds(kSoonS)); });
  EXPECT_EQ(code, "unavailable");
  EXPECT_TRUE(contains(text, "Two clients with the same client_id 7")) << text;
}

TEST(SwitchConnection, names_the_owner_of_the_program) {
  FakeSwitch fake;
  fake.owner = 3;
  SwitchConnection connection(options_for(fake));
  const auto [code, text] =
      error_of_run([&] { connection.bound(Deadline::after_seconds(kSoonS)); });
  EXPECT_EQ(code, "unavailable");
  EXPECT_TRUE(contains(text, "client 3 is bound")) << text;
}

TEST(SwitchConnection, waits_for_an_owner_to_go) {
  FakeSwitch fake;
  fake.ids.insert(7);
  fake.owner = 3;
  std::thread other([&] {
    std::unique_lock lock(fake.mutex);
    while (fake.refused == 0) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
    fake.ids.erase(7);
    fake.owner.reset();
  });
  SwitchConnection connection(options_for(fake));
  EXPECT_NO_THROW(connection.bound(connection.call_deadline()));
  other.join();
}

TEST(SwitchConnection, binds_again_where_the_stream_has_ended) {
  FakeSwitch fake;
  SwitchConnection connection(options_for(fake));
  connection.bound(connection.call_deadline());
  fake.drop_streams();
  while (connection.state() == ConnectionState::kBound) std::this_thread::yield();
  connection.read(some_read(), connection.call_deadline());
  EXPECT_EQ(connection.epoch(), 2U);
}

TEST(SwitchConnection, checks_the_program_of_a_switch_that_was_started_again) {
  auto fake = std::make_unique<FakeSwitch>();
  SwitchConnection connection(options_for(*fake));
  connection.bound(connection.call_deadline());
  const int port = fake->port();
  fake = nullptr;
  fake = std::make_unique<FakeSwitch>("other", port);
  const auto [code, text] =
      error_of_run([&] { connection.read(some_read(), connection.call_deadline()); });
  EXPECT_EQ(code, "wrong_state");
  EXPECT_TRUE(contains(text, "runs program other; expected toy")) << text;
  EXPECT_TRUE(fake->reads.empty());
  fake = nullptr;
  fake = std::make_unique<FakeSwitch>("toy", port);
  connection.read(some_read(), connection.call_deadline());
  EXPECT_EQ(fake->reads.size(), 1U);
  EXPECT_EQ(connection.epoch(), 2U);
}

TEST(SwitchConnection, binds_again_where_the_switch_says_that_it_is_configured) {
  FakeSwitch fake;
  SwitchConnection connection(options_for(fake));
  connection.bound(connection.call_deadline());
  bfrt_proto::StreamMessageResponse started;
  started.mutable_set_forwarding_pipeline_config_response();
  fake.push(started);
  while (connection.state() == ConnectionState::kBound) std::this_thread::yield();
  connection.read(some_read(), connection.call_deadline());
  EXPECT_EQ(connection.epoch(), 2U);
}

TEST(SwitchConnection, does_not_repeat_a_write_whose_fate_is_unknown) {
  FakeSwitch fake;
  SwitchConnection connection(options_for(fake));
  connection.bound(connection.call_deadline());
  fake.drop_on_write = true;
  const auto [code, text] =
      error_of_run([&] { connection.write(some_write(), connection.call_deadline()); });
  EXPECT_EQ(code, "unavailable");
  EXPECT_TRUE(contains(text, "whether it was applied is not known")) << text;
  fake.drop_on_write = false;
  connection.write(some_write(), connection.call_deadline());
}

TEST(SwitchConnection, names_the_update_that_failed) {
  FakeSwitch fake;
  SwitchConnection connection(options_for(fake));
  connection.bound(connection.call_deadline());
  fake.failing[1] = {grpc::StatusCode::NOT_FOUND, "Object not found"};
  auto request = some_write();
  *request.add_updates() = request.updates(0);
  *request.add_updates() = request.updates(0);
  try {
    connection.write(request, connection.call_deadline());
    FAIL() << "no error";
  } catch (const UpdateError& error) {
    EXPECT_EQ(error.update(), 1U);
    EXPECT_EQ(error.code(), "not_found");
    EXPECT_TRUE(contains(error.what(), "Object not found")) << error.what();
  }
}

TEST(SwitchConnection, takes_digests) {
  FakeSwitch fake;
  DigestQueue digests;
  SwitchConnection connection(
      options_for(fake), [&](const auto& schema, const auto& list) { digests.take(schema, list); });
  connection.bound(connection.call_deadline());
  bfrt_proto::StreamMessageResponse message;
  message.mutable_digest()->set_digest_id(testing::kLearn);
  message.mutable_digest()->mutable_target()->set_pipe_id(1);
  auto& learned = *message.mutable_digest()->add_data();
  learned.add_fields()->set_field_id(1);
  learned.mutable_fields(0)->set_stream(std::string("\x02\x00\x00\x00\x00\x51", 6));
  learned.add_fields()->set_field_id(2);
  learned.mutable_fields(1)->set_stream(std::string("\x01\x04", 2));
  *message.mutable_digest()->add_data() = learned;
  fake.push(message);
  const auto answer = digests.read(1, Deadline::after_seconds(kLongS));
  const nlohmann::json expected = {{"name", "pipe.InDeparser.learn"},
                                   {"pipe", 1},
                                   {"fields", {{"src", 0x020000000051}, {"port", 0x104}}}};
  EXPECT_EQ(answer.at("digests"), nlohmann::json::array({expected}));
  EXPECT_EQ(answer.at("waiting"), 1);
  EXPECT_EQ(answer.at("lost"), 0);
}

}  // namespace
}  // namespace turntable::bfrt_driver
