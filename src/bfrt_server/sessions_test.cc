#include "bfrt_server/sessions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "bfrt_server/failure.h"

namespace turntable::bfrt_server {
namespace {

constexpr std::size_t kMostClients = 2;

// What happens, in every order: three streams that subscribe with two ids, bind two programs and
// one that nobody has, and close.
struct Event {
  enum Kind { kSubscribe, kBind, kClose } kind;
  ClientId id;          // kSubscribe, kBind
  StreamId stream;      // kSubscribe, kClose
  const char* program;  // kBind
};

constexpr Event kEvents[] = {{Event::kSubscribe, 10, 1, ""}, {Event::kSubscribe, 10, 2, ""},
                             {Event::kSubscribe, 20, 2, ""}, {Event::kSubscribe, 30, 3, ""},
                             {Event::kBind, 10, 0, "p"},     {Event::kBind, 20, 0, "p"},
                             {Event::kBind, 20, 0, "q"},     {Event::kBind, 10, 0, "none"},
                             {Event::kClose, 0, 1, ""},      {Event::kClose, 0, 2, ""}};

std::optional<grpc::StatusCode> code_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Failure& failure) {
    return failure.code();
  }
  return std::nullopt;
}

// The rules once more, as a list of facts that is gone through from the beginning each time: who
// is there follows from what was accepted before.
class Model {
 public:
  std::optional<grpc::StatusCode> expect(const Event& event) const {
    switch (event.kind) {
      case Event::kSubscribe:
        if (stream_of(event.id) != 0) return grpc::StatusCode::INVALID_ARGUMENT;
        if (present().size() == kMostClients) return grpc::StatusCode::RESOURCE_EXHAUSTED;
        return std::nullopt;
      case Event::kBind:
        if (stream_of(event.id) == 0) return grpc::StatusCode::UNAVAILABLE;
        for (const ClientId id : present()) {
          if (program_of(id) == event.program) return grpc::StatusCode::ALREADY_EXISTS;
        }
        if (std::string(event.program) == "none") return grpc::StatusCode::NOT_FOUND;
        return std::nullopt;
      case Event::kClose:
        return std::nullopt;
    }
    return std::nullopt;
  }
  void accept(const Event& event) { history_.push_back(event); }

  StreamId stream_of(ClientId id) const {
    StreamId stream = 0;
    for (const Event& event : history_) {
      if (event.kind == Event::kSubscribe && event.id == id) stream = event.stream;
      if (event.kind == Event::kClose && event.stream == stream) stream = 0;
    }
    return stream;
  }
  std::string program_of(ClientId id) const {
    std::string program;
    for (auto event = history_.rbegin(); event != history_.rend(); ++event) {
      if (event->kind == Event::kSubscribe && event->id == id) return program;
      if (event->kind == Event::kBind && event->id == id && program.empty())
        program = event->program;
    }
    return program;
  }
  std::vector<ClientId> present() const {
    std::vector<ClientId> ids;
    for (const ClientId id : {10U, 20U, 30U}) {
      if (stream_of(id) != 0) ids.push_back(id);
    }
    return ids;
  }

 private:
  std::vector<Event> history_;
};

std::optional<grpc::StatusCode> apply(Sessions& sessions, const Event& event) {
  return code_of([&] {
    switch (event.kind) {
      case Event::kSubscribe:
        return sessions.subscribe(event.stream, event.id);
      case Event::kBind:
        return sessions.bind(event.id, event.program, std::string(event.program) != "none");
      case Event::kClose:
        return sessions.close(event.stream);
    }
  });
}

void check_same(const Sessions& sessions, const Model& model) {
  std::vector<ClientId> ids;
  for (const Sessions::Client& client : sessions.clients()) {
    ids.push_back(client.id);
    EXPECT_EQ(client.stream, model.stream_of(client.id));
    EXPECT_EQ(client.program.value_or(""), model.program_of(client.id));
  }
  EXPECT_EQ(ids, model.present());
}

// Every sequence of five of the ten events: 100,000.
TEST(Sessions, do_as_the_rules_say_in_every_order) {
  constexpr std::size_t kLength = 5;
  constexpr std::size_t kKinds = std::size(kEvents);
  std::size_t sequences = 1;
  for (std::size_t i = 0; i < kLength; ++i) sequences *= kKinds;
  for (std::size_t sequence = 0; sequence < sequences; ++sequence) {
    Sessions sessions(kMostClients);
    Model model;
    std::size_t rest = sequence;
    for (std::size_t i = 0; i < kLength; ++i, rest /= kKinds) {
      const Event& event = kEvents[rest % kKinds];
      const auto expected = model.expect(event);
      ASSERT_EQ(apply(sessions, event), expected) << "sequence " << sequence << ", event " << i;
      if (!expected) model.accept(event);
    }
    check_same(sessions, model);
    if (HasFailure()) FAIL() << "sequence " << sequence;
  }
}

TEST(Sessions, name_both_ids_where_a_program_is_taken) {
  Sessions sessions(kMostClients);
  sessions.subscribe(1, 10);
  sessions.subscribe(2, 20);
  sessions.bind(10, "p", true);
  try {
    sessions.bind(20, "p", true);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(),
                 "Client ID 20 trying to bind but Client ID 10 already owns this P4 "
                 "Already exists");
  }
}

TEST(Sessions, of_a_closed_stream_leave_its_successor_alone) {
  Sessions sessions(kMostClients);
  sessions.subscribe(1, 10);
  sessions.close(1);
  sessions.subscribe(2, 10);
  sessions.close(1);
  EXPECT_TRUE(sessions.is_subscribed(10));
}

TEST(Sessions, without_a_program_have_an_error_that_says_so) {
  Sessions sessions(kMostClients);
  sessions.subscribe(1, 10);
  EXPECT_EQ(code_of([&] { sessions.program_of(10); }), grpc::StatusCode::UNKNOWN);
}

}  // namespace
}  // namespace turntable::bfrt_server
