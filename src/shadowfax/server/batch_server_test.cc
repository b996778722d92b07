#include "shadowfax/server/batch_server.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "common/scratch_directory.h"

namespace turntable::shadowfax {
namespace {

class BatchServerTest : public ::testing::Test {
 protected:
  struct Batch {
    ReplyHeader header;
    std::vector<Reply> replies;
  };

  BatchServerTest() { thread_.protect(); }

  Batch serve(const std::vector<Request>& requests, std::uint64_t view = 1) {
    std::vector<std::byte> bytes(requests.size() * Request::kBytes);
    std::byte* at = bytes.data();
    for (const Request& request : requests) at = write(at, request);
    BatchServer::Bytes out;
    server_.serve({.view = view, .first = server_.served() + 1, .bytes = bytes.size()}, bytes, out);
    return read(out);
  }

  static Batch read(const BatchServer::Bytes& bytes) {
    Batch batch{.header = read_reply_header(bytes.data()), .replies = {}};
    EXPECT_EQ(bytes.size(), ReplyHeader::kBytes + batch.header.bytes);
    for (std::size_t at = ReplyHeader::kBytes; at < bytes.size();) {
      batch.replies.push_back(read_reply(bytes.data() + at));
      at += Reply::bytes_of(batch.replies.back().opcode);
    }
    return batch;
  }

  // Until the keys that are there are on the device alone.
  void push_out() {
    const hybridlog::Address until = store_.log().tail();
    for (std::uint64_t key = 1U << 20U; store_.log().head() < until; ++key)
      serve({{Opcode::kUpsert, key, 1}});
  }

  ScratchDirectory directory_;
  hybridlog::Store store_{{.index_buckets = 64,
                           .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
                           .threads = 2,
                           .reader_threads = 1},
                          hybridlog::open_file(directory_.path() / "log")};
  hybridlog::Epoch::Thread thread_{store_.epoch()};
  int newer_seen_ = 0;
  Serving serving_{1, [this] { ++newer_seen_; }};
  const Commits commits_{{{hybridlog::SessionId{1, 2}, 7}}};
  BatchServer server_{{.store = store_,
                       .thread = thread_,
                       .commits = commits_,
                       .serving = serving_,
                       .most_pending = 4},
                      hybridlog::SessionId{1, 2}};
};

TEST_F(BatchServerTest, AnswersInOrder) {
  const Batch batch = serve({{Opcode::kUpsert, 1, 10},
                             {Opcode::kAdd, 1, 5},
                             {Opcode::kRead, 1, 0},
                             {Opcode::kErase, 1, 0},
                             {Opcode::kRead, 1, 0}});
  EXPECT_EQ(batch.header.status, BatchStatus::kServed);
  EXPECT_EQ(batch.header.reissue_from, 6U);
  ASSERT_EQ(batch.replies.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(batch.replies[i].number, i + 1);
  EXPECT_EQ(batch.replies[2].value, 15U);
  EXPECT_EQ(batch.replies[3].status, ReplyStatus::kOk);
  EXPECT_EQ(batch.replies[4].status, ReplyStatus::kNotFound);
}

TEST_F(BatchServerTest, AnotherViewIsRefusedAsAWhole) {
  serve({{Opcode::kUpsert, 1, 10}});
  const Batch batch = serve({{Opcode::kAdd, 1, 5}, {Opcode::kAdd, 1, 5}}, /*view=*/2);
  EXPECT_EQ(batch.header.status, BatchStatus::kViewChanged);
  EXPECT_EQ(batch.header.view, 1U);
  EXPECT_EQ(batch.header.reissue_from, 2U);
  EXPECT_TRUE(batch.replies.empty());
  EXPECT_EQ(newer_seen_, 1);
  EXPECT_EQ(serve({{Opcode::kAdd, 1, 5}}, /*view=*/0).header.status, BatchStatus::kViewChanged);
  EXPECT_EQ(newer_seen_, 1);
  EXPECT_EQ(serve({{Opcode::kRead, 1, 0}}).replies.at(0).value, 10U);
}

TEST_F(BatchServerTest, WhileARangeLeavesBatchesWait) {
  serving_.wait();
  EXPECT_EQ(serve({{Opcode::kUpsert, 1, 10}}).header.status, BatchStatus::kBusy);
  serving_.go_on(2);
  EXPECT_EQ(serve({{Opcode::kUpsert, 1, 10}}).header.status, BatchStatus::kViewChanged);
  EXPECT_EQ(serve({{Opcode::kUpsert, 1, 10}}, /*view=*/2).header.status, BatchStatus::kServed);
  EXPECT_EQ(server_.welcome().view, 2U);
}

TEST_F(BatchServerTest, ABatchThatIsNotTheNextIsRefused) {
  serve({{Opcode::kUpsert, 1, 10}});
  std::vector<std::byte> bytes(Request::kBytes);
  write(bytes.data(), Request{Opcode::kAdd, 1, 5});
  for (const std::uint64_t first : {1, 3}) {
    BatchServer::Bytes out;
    const auto served =
        server_.serve({.view = 1, .first = first, .bytes = bytes.size()}, bytes, out);
    EXPECT_TRUE(served.is_refused);
    EXPECT_EQ(read(out).header.status, BatchStatus::kBusy);
    EXPECT_EQ(read(out).header.reissue_from, 2U);
  }
  EXPECT_EQ(serve({{Opcode::kRead, 1, 0}}).replies.at(0).value, 10U);
}

TEST_F(BatchServerTest, SaysWhatIsCommitted) {
  EXPECT_EQ(server_.welcome().committed, 7U);
  EXPECT_EQ(server_.welcome().view, 1U);
  EXPECT_EQ(serve({{Opcode::kRead, 1, 0}}).header.committed, 7U);
}

TEST_F(BatchServerTest, ASessionIsOpenOnce) {
  EXPECT_THROW(
      BatchServer({.store = store_, .thread = thread_, .commits = commits_, .serving = serving_},
                  {1, 2}),
      std::logic_error);
  BatchServer({.store = store_, .thread = thread_, .commits = commits_, .serving = serving_}, {});
}

TEST_F(BatchServerTest, WhatMeansNothingIsRefusedBeforeAnythingIsServed) {
  std::vector<std::byte> bytes(2 * Request::kBytes);
  write(write(bytes.data(), Request{Opcode::kUpsert, 1, 10}), Request{Opcode{9}, 1, 10});
  BatchServer::Bytes out;
  EXPECT_THROW(server_.serve({.view = 1, .first = 1, .bytes = bytes.size()}, bytes, out),
               ProtocolError);
  bytes.pop_back();
  EXPECT_THROW(server_.serve({.view = 1, .first = 1, .bytes = bytes.size()}, bytes, out),
               ProtocolError);
  EXPECT_EQ(serve({{Opcode::kRead, 1, 0}}).replies.at(0).status, ReplyStatus::kNotFound);
}

TEST_F(BatchServerTest, WhatIsPendingIsAnsweredLater) {
  serve({{Opcode::kUpsert, 1, 10}, {Opcode::kUpsert, 2, 20}});
  push_out();
  const std::uint64_t before = server_.served();
  Batch batch = serve({{Opcode::kRead, 1, 0}, {Opcode::kAdd, 2, 1}});
  ASSERT_GE(batch.replies.size(), 2U);
  EXPECT_EQ(batch.replies[0].status, ReplyStatus::kPending);
  EXPECT_EQ(batch.replies[1].status, ReplyStatus::kPending);
  std::vector<Reply> results(batch.replies.begin() + 2, batch.replies.end());
  while (server_.pending() > 0) {
    BatchServer::Bytes out;
    server_.go_on(out);
    if (out.empty()) continue;
    batch = read(out);
    EXPECT_EQ(batch.header.status, BatchStatus::kResults);
    results.insert(results.end(), batch.replies.begin(), batch.replies.end());
  }
  ASSERT_EQ(results.size(), 2U);
  for (const Reply& result : results) {
    EXPECT_EQ(result.status, ReplyStatus::kOk);
    EXPECT_EQ(result.number, before + (result.opcode == Opcode::kRead ? 1 : 2));
    if (result.opcode == Opcode::kRead) {
      EXPECT_EQ(result.value, 10U);
    }
  }
  EXPECT_EQ(serve({{Opcode::kRead, 2, 0}}).replies.at(0).value, 21U);
}

TEST_F(BatchServerTest, TooMuchThatIsPendingIsRefused) {
  std::vector<Request> reads;
  for (std::uint64_t key = 1; key <= 5; ++key) {
    serve({{Opcode::kUpsert, key, 10 * key}});
    reads.push_back({Opcode::kRead, key, 0});
  }
  push_out();
  EXPECT_EQ(serve(reads).header.status, BatchStatus::kServed);
  ASSERT_GT(server_.pending(), 4U);  // the device has not answered in the same instant
  const Batch batch = serve({{Opcode::kUpsert, 9, 9}});
  EXPECT_EQ(batch.header.status, BatchStatus::kBusy);
  while (server_.pending() > 0) {
    BatchServer::Bytes out;
    server_.go_on(out);
  }
  EXPECT_EQ(serve({{Opcode::kRead, 9, 0}}).replies.at(0).status, ReplyStatus::kNotFound);
}

}  // namespace
}  // namespace turntable::shadowfax
