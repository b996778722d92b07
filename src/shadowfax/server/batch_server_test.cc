#include "shadowfax/server/batch_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "common/scratch_directory.h"
#include "workload/random.h"

namespace turntable::shadowfax {
namespace {

// Answers no read while it holds.
class HoldingDevice : public hybridlog::Device {
 public:
  explicit HoldingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    return device_->write(offset, data, size);
  }
  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    holds_.wait(true);
    return device_->read(offset, data, size);
  }
  std::error_code sync() override { return device_->sync(); }

  void hold(bool holds) {
    holds_ = holds;
    holds_.notify_all();
  }

 private:
  const std::unique_ptr<Device> device_;
  std::atomic<bool> holds_{false};
};

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
      at += Sizes().reply(batch.replies.back().opcode);
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
  HoldingDevice* device_ =
      new HoldingDevice(hybridlog::open_file(directory_.path() / "log"));  // the store's
  hybridlog::Store store_{{.index_buckets = 64,
                           .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
                           .threads = 2,
                           .reader_threads = 1},
                          std::unique_ptr<hybridlog::Device>(device_)};
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

// Of the right view, but with a key that the server does not own.
TEST_F(BatchServerTest, AForeignKeyIsRefusedWithItsBatchWhereKeysAreLookedUp) {
  RangeCheck ranges({.kind = RangeCheckKind::kSplits, .splits = 8});
  ranges.own({{hybridlog::hash_of(1), hybridlog::hash_of(1)}});
  BatchServer server({.store = store_,
                      .thread = thread_,
                      .commits = commits_,
                      .serving = serving_,
                      .ranges = &ranges},
                     hybridlog::SessionId{3, 4});
  const auto serve_keys = [&](const std::vector<std::uint64_t>& keys) {
    std::vector<std::byte> bytes(keys.size() * Request::kBytes);
    for (std::size_t i = 0; i < keys.size(); ++i)
      write(bytes.data() + i * Request::kBytes, Request{Opcode::kAdd, keys[i], 5});
    BatchServer::Bytes out;
    server.serve({.view = 1, .first = server.served() + 1, .bytes = bytes.size()}, bytes, out);
    return read(out);
  };
  EXPECT_EQ(serve_keys({1, 1, 2}).header.status, BatchStatus::kViewChanged);
  EXPECT_EQ(server.served(), 0U);
  EXPECT_EQ(serve_keys({1, 1}).header.status, BatchStatus::kServed);
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
  device_->hold(true);
  EXPECT_EQ(serve(reads).header.status, BatchStatus::kServed);
  ASSERT_EQ(server_.pending(), 5U);
  const Batch batch = serve({{Opcode::kUpsert, 9, 9}});
  EXPECT_EQ(batch.header.status, BatchStatus::kBusy);
  device_->hold(false);
  while (server_.pending() > 0) {
    BatchServer::Bytes out;
    server_.go_on(out);
  }
  EXPECT_EQ(serve({{Opcode::kRead, 9, 0}}).replies.at(0).status, ReplyStatus::kNotFound);
}

// Sessions with values of other lengths at the same store.
class SizedBatches : public BatchServerTest {
 protected:
  static constexpr std::size_t kBytes = 40;

  struct Operation {
    Opcode opcode;
    std::uint64_t key, first;  // of its value, of which the rest is `fill`
    std::uint8_t fill;
  };
  struct Answer {
    ReplyStatus status;
    std::uint32_t length = 0;
    std::vector<std::byte> bytes{};
    bool operator==(const Answer&) const = default;
  };

  explicit SizedBatches(std::size_t bytes = kBytes)
      : sizes_(bytes),
        sized_({.store = store_,
                .thread = thread_,
                .commits = commits_,
                .serving = serving_,
                .most_pending = 1'000'000},
               {}, bytes) {}

  std::vector<std::byte> value(std::uint64_t first, std::uint8_t fill) const {
    std::vector<std::byte> bytes(sizes_.value_bytes(), std::byte{fill});
    wire::write(bytes.data(), first);
    return bytes;
  }
  std::vector<std::byte> bytes_of(const std::vector<Operation>& operations) const {
    std::vector<std::byte> bytes(operations.size() * sizes_.request(), std::byte{0});
    std::byte* at = bytes.data();
    for (const Operation& each : operations) {
      write(at, Request{each.opcode, each.key, each.first});
      std::ranges::copy(value(each.first, each.fill), at + Request::kValueAt);
      at += sizes_.request();
    }
    return bytes;
  }
  // Replies, and results of what was pending behind them; in batches of at most so many bytes.
  std::vector<Answer> answers_of(const BatchServer::Bytes& out) {
    std::vector<Answer> answers;
    for (std::size_t at = 0; at < out.size();) {
      const ReplyHeader header = read_reply_header(out.data() + at);
      EXPECT_LE(header.bytes, kMostReplyBytes);
      EXPECT_TRUE(at == 0 || header.status == BatchStatus::kResults);
      at += ReplyHeader::kBytes;
      const std::size_t end = at + header.bytes;
      while (at < end) {
        const auto reply = next_reply(out.data() + at, out.data() + end, sizes_);
        if (!reply) throw std::runtime_error("no reply");
        answers.push_back(
            {reply->status, reply->length, {reply->bytes.begin(), reply->bytes.end()}});
        at += sizes_.reply(reply->opcode);
      }
    }
    return answers;
  }
  std::vector<Answer> serve(const std::vector<Operation>& operations) {
    const auto bytes = bytes_of(operations);
    BatchServer::Bytes out;
    sized_.serve({.view = 1, .first = sized_.served() + 1, .bytes = bytes.size()}, bytes, out);
    return answers_of(out);
  }

  const Sizes sizes_;
  BatchServer sized_;
};

TEST_F(SizedBatches, AreAnsweredInOrder) {
  const auto answers = serve({{Opcode::kUpsert, 1, 10, 7},
                              {Opcode::kAdd, 1, 5, 9},
                              {Opcode::kRead, 1, 0, 0},
                              {Opcode::kAdd, 2, 5, 9},
                              {Opcode::kRead, 2, 0, 0},
                              {Opcode::kErase, 1, 0, 0},
                              {Opcode::kRead, 1, 0, 0}});
  ASSERT_EQ(answers.size(), 7U);
  EXPECT_EQ(answers[2], (Answer{ReplyStatus::kOk, kBytes, value(15, 7)}));
  EXPECT_EQ(answers[4], (Answer{ReplyStatus::kOk, kBytes, value(5, 9)}));
  EXPECT_EQ(answers[6], (Answer{ReplyStatus::kNotFound}));
  EXPECT_EQ(sized_.served(), 7U);
}

TEST_F(SizedBatches, WhatTheDeviceHasComesLater) {
  serve({{Opcode::kUpsert, 1, 10, 7}, {Opcode::kUpsert, 2, 20, 8}});
  push_out();
  auto answers = serve({{Opcode::kRead, 1, 0, 0}, {Opcode::kAdd, 2, 1, 0}});
  EXPECT_EQ(answers[0].status, ReplyStatus::kPending);
  std::vector<Answer> results(answers.begin() + 2, answers.end());
  while (sized_.pending() > 0) {
    BatchServer::Bytes out;
    sized_.go_on(out);
    if (out.empty()) continue;
    for (Answer& each : answers_of(out)) results.push_back(std::move(each));
  }
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(std::ranges::count(results, Answer{ReplyStatus::kOk, kBytes, value(10, 7)}), 1);
  EXPECT_EQ(serve({{Opcode::kRead, 2, 0, 0}}).at(0),
            (Answer{ReplyStatus::kOk, kBytes, value(21, 8)}));
}

// Of other lengths than the session's: a longer one is said and not cut, a shorter one is whole.
TEST_F(SizedBatches, ValuesOfOtherSessionsLoseNothing) {
  BatchServerTest::serve({{Opcode::kUpsert, 1, 10}});
  {
    hybridlog::Session other(store_, thread_);
    other.upsert_value(2, std::vector(kBytes + 1, std::byte{3}));
    other.upsert_value(3, std::vector(5, std::byte{4}));
    other.upsert_value(4, {});
  }
  serve({{Opcode::kUpsert, 5, 50, 5}});
  const auto answers = serve({{Opcode::kRead, 1, 0, 0},
                              {Opcode::kRead, 2, 0, 0},
                              {Opcode::kRead, 3, 0, 0},
                              {Opcode::kRead, 4, 0, 0},
                              {Opcode::kAdd, 3, 1, 0}});
  EXPECT_EQ(answers[0].length, 8U);
  EXPECT_EQ(wire::read<std::uint64_t>(answers[0].bytes.data()), 10U);
  EXPECT_EQ(answers[1], (Answer{ReplyStatus::kWrongSize, kBytes + 1}));
  EXPECT_EQ(answers[2], (Answer{ReplyStatus::kOk, 5, std::vector(5, std::byte{4})}));
  EXPECT_EQ(answers[3], (Answer{ReplyStatus::kOk, 0}));
  EXPECT_EQ(answers[4].status, ReplyStatus::kWrongSize);
  // A session of 8 bytes is told how long it is, and adds to its beginning.
  const Batch batch =
      BatchServerTest::serve({{Opcode::kRead, 5, 0}, {Opcode::kAdd, 5, 1}, {Opcode::kRead, 1, 0}});
  EXPECT_EQ(batch.replies[0].status, ReplyStatus::kWrongSize);
  EXPECT_EQ(batch.replies[0].value, kBytes);
  EXPECT_EQ(batch.replies[1].status, ReplyStatus::kOk);
  EXPECT_EQ(batch.replies[2].value, 10U);
  EXPECT_EQ(serve({{Opcode::kRead, 5, 0, 0}}).at(0),
            (Answer{ReplyStatus::kOk, kBytes, value(51, 5)}));
}

// Any bytes are served as a whole, or refused before anything is done.
TEST_F(SizedBatches, BytesThatMeanNothing) {
  workload::Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bytes(random.next() % (4 * sizes_.request()));
    for (std::byte& each : bytes) each = static_cast<std::byte>(random.next() % 8);
    const std::uint64_t before = sized_.served();
    BatchServer::Bytes out;
    try {
      sized_.serve({.view = 1, .first = before + 1, .bytes = bytes.size()}, bytes, out);
      EXPECT_EQ(sized_.served(), before + bytes.size() / sizes_.request());
      answers_of(out);
    } catch (const ProtocolError&) {
      EXPECT_EQ(sized_.served(), before);
    }
  }
  auto bytes = bytes_of({{Opcode::kUpsert, 1, 10, 7}, {Opcode::kUpsert, 2, 10, 7}});
  bytes.pop_back();
  BatchServer::Bytes out;
  EXPECT_THROW(
      sized_.serve({.view = 1, .first = sized_.served() + 1, .bytes = bytes.size()}, bytes, out),
      ProtocolError);
  bytes.resize(17);  // a request of a session of 8 bytes
  EXPECT_THROW(
      sized_.serve({.view = 1, .first = sized_.served() + 1, .bytes = bytes.size()}, bytes, out),
      ProtocolError);
}

// Results of more reads than one reply batch may have go into several.
class LongBatches : public SizedBatches {
 protected:
  LongBatches() : SizedBatches(2048) {}
};

TEST_F(LongBatches, ManyResultsAreSeveralBatches) {
  constexpr std::uint64_t kStored = 2500;  // of 2,062 bytes: 5.2 MB, where 4.2 may be in one
  for (std::uint64_t key = 1; key <= kStored; ++key)
    serve({{Opcode::kUpsert, key, key, static_cast<std::uint8_t>(key)}});
  push_out();
  std::size_t found = 0, batches = 0;
  BatchServer::Bytes out;
  const auto count = [&] {
    for (const Answer& each : answers_of(out)) {
      if (each.status == ReplyStatus::kPending) continue;
      ASSERT_EQ(each.status, ReplyStatus::kOk);
      const auto key = wire::read<std::uint64_t>(each.bytes.data());
      ASSERT_EQ(each.bytes, value(key, static_cast<std::uint8_t>(key)));
      ++found;
    }
    if (!out.empty()) ++batches;
    out.clear();
  };
  for (std::uint64_t key = 1; key <= kStored; key += 500) {
    std::vector<Operation> reads;
    for (std::uint64_t i = key; i < key + 500; ++i) reads.push_back({Opcode::kRead, i, 0, 0});
    const auto bytes = bytes_of(reads);
    sized_.serve({.view = 1, .first = sized_.served() + 1, .bytes = bytes.size()}, bytes, out);
    count();
  }
  while (sized_.pending() > 0) {
    sized_.go_on(out);
    count();
  }
  EXPECT_EQ(found, kStored);
}

}  // namespace
}  // namespace turntable::shadowfax
