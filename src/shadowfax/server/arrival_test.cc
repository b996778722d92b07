// Records of a range as they come to its new owner.

#include "shadowfax/server/arrival.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/checkpoint_file.h"
#include "hybridlog/testing_client.h"
#include "shadowfax/server/moved_record.h"

namespace turntable::shadowfax {
namespace {

using hybridlog::bytes_of;
using hybridlog::testing::Client;

// Its first read of those that are asked for later on waits for the second, if there is one soon.
class OvertakingDevice : public hybridlog::Device {
 public:
  explicit OvertakingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    return device_->write(offset, data, size);
  }
  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    if (reads_++ == 0) {
      for (int i = 0; i < 50 && !has_overtaken_; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return device_->read(offset, data, size);
    }
    const std::error_code error = device_->read(offset, data, size);
    // The record must be there before the first read ends.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    has_overtaken_ = true;
    return error;
  }
  std::error_code sync() override { return device_->sync(); }

  void begin() { reads_ = 0; }

 private:
  const std::unique_ptr<Device> device_;
  std::atomic<int> reads_{1};
  std::atomic<bool> has_overtaken_{false};
};

// Both have to look at the device, for another key's record lies in their chain.
TEST(Arrival, TheNewestOfTwoRecordsIsTakenWhicheverTheDeviceAnswersFirst) {
  const ScratchDirectory directory;
  auto* const device = new OvertakingDevice(hybridlog::open_file(directory.path() / "log"));
  hybridlog::Store store({.index_buckets = 1,
                          .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
                          .threads = 4,
                          .reader_threads = 2},
                         std::unique_ptr<hybridlog::Device>(device));
  Commits commits;
  Checkpointer checkpointer(store, commits, directory.path() / "checkpoint.json",
                            std::chrono::hours(1));
  CompactionGate gate;
  Arrival arrival(store, checkpointer, gate);
  constexpr std::uint64_t kOther = 1;
  std::uint64_t key = 2;
  const auto tag_of = [](std::uint64_t of) {
    return hybridlog::IndexEntry::tag_of(hybridlog::hash_of(of));
  };
  while (tag_of(key) != tag_of(kOther)) ++key;

  const hybridlog::Address receives_from = arrival.prepare();
  {
    Client client(store);
    client.upsert(kOther, 5);
    const hybridlog::Address written = store.log().tail();
    for (std::uint64_t pushes = 1U << 20U; store.log().head() < written; ++pushes) {
      if (tag_of(pushes) == tag_of(kOther)) continue;
      ASSERT_EQ(client.upsert(pushes, 1), hybridlog::Status::kOk);
      client.refresh();
    }
  }
  arrival.begin({.id = 1, .range = {}, .receives_from = receives_from});
  std::vector<std::uint8_t> records;
  append(records, hybridlog::ScannedRecord{.key = key, .value = bytes_of(2)});
  append(records, hybridlog::ScannedRecord{.key = key, .value = bytes_of(1)});
  device->begin();
  arrival.take(records);
  arrival.finish();
  arrival.end();
  Client client(store);
  EXPECT_EQ(client.read(key).value, 2U);
}

// Of the source's log, in which the test looks up.
class AskedLogs : public hybridlog::OtherLogs {
 public:
  explicit AskedLogs(std::function<void(Ticket&)> look_up) : look_up_(std::move(look_up)) {}

  std::shared_ptr<Ticket> read(const hybridlog::Indirection& at, std::uint64_t key) override {
    auto ticket = std::make_shared<Ticket>(at, key);
    look_up_(*ticket);
    return ticket;
  }

 private:
  const std::function<void(Ticket&)> look_up_;
};

// Additions that are left to an arrival, whose checkpoints are in a file.
class LeftAdditions : public ::testing::Test {
 protected:
  static constexpr hybridlog::SessionId kGone{1, 2};
  static constexpr std::uint64_t kKey = 1;
  using Left = std::vector<hybridlog::Awaited::Addition>;

  static hybridlog::StoreSettings settings() {
    return {.index_buckets = 64,
            .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
            .threads = 8,
            .reader_threads = 2};
  }
  // All hashes are received, and a client has gone whose addition waits.
  void begin() {
    arrival_.begin({.id = 1, .range = {}, .receives_from = arrival_.prepare()});
    Client client(store_, kGone);
    ASSERT_EQ(client.add(kKey, 5), hybridlog::Status::kPending);
  }
  std::string file() const { return directory_.path() / "checkpoint.json"; }
  hybridlog::Checkpoint kept() const { return hybridlog::read_checkpoint(file()).value(); }
  // As another process of the server finds it.
  std::optional<std::uint64_t> recovered_value() {
    hybridlog::Store again(settings(), hybridlog::open_file(log()), kept());
    Client client(again);
    const auto answer = hybridlog::testing::settled(client, client.read(kKey));
    return answer.status == hybridlog::Status::kOk ? std::optional(answer.value) : std::nullopt;
  }
  std::string log() const { return directory_.path() / "log"; }

  const ScratchDirectory directory_;
  hybridlog::Store store_{settings(), hybridlog::open_file(log())};
  Commits commits_;
  Checkpointer checkpointer_{store_, commits_, file(), std::chrono::milliseconds(1)};
  CompactionGate gate_;
  Arrival arrival_{store_, checkpointer_, gate_};
};

// Checkpoints wait for the client meanwhile.
void while_it_takes_part(Client& client, const std::function<void()>& task) {
  std::atomic<bool> is_done{false};
  const std::jthread thread([&] {
    task();
    is_done = true;
  });
  while (!is_done) client.complete_pending([](auto...) {});
}

// A checkpoint that is being prepared when the last records come counts the addition by its
// session's number: it must not cross once the addition is taken from those that are left, for the
// record with it would be of the next version. Here the source's log is asked in between.
TEST_F(LeftAdditions, NoCheckpointIsWithoutThemWhileTheyAreMade) {
  begin();
  Client holds_up(store_);
  using Phase = hybridlog::Versions::Phase;
  bool fails = true;
  AskedLogs logs([&](hybridlog::OtherLogs::Ticket& ticket) {
    while (fails && store_.versions().phase() == Phase::kPrepare) holds_up.take_part();
    if (!fails) ticket.value.assign(hybridlog::bytes_of(100));
    ticket.finish(fails ? hybridlog::OtherLogs::Found::kError
                        : hybridlog::OtherLogs::Found::kValue);
  });
  store_.elsewhere().read_by(&logs);
  std::vector<std::uint8_t> records;
  append(records, hybridlog::Indirection{
                      .hash = hybridlog::hash_of(kKey), .migration = 1, .bits = 6, .log = 7});
  arrival_.take(records);
  store_.awaited().give_up_after(std::chrono::milliseconds(100));
  while (!store_.awaited().is_given_up() || store_.versions().phase() != Phase::kPrepare)
    std::this_thread::yield();

  const SourceLog rest{.begin = 64, .until = 4096};
  EXPECT_THROW(arrival_.finish(rest), std::runtime_error);  // the source's device gives nothing
  while_it_takes_part(holds_up, [&] { checkpointer_.pause(); });  // what was under way has ended
  if (kept().serials.contains(kGone)) EXPECT_EQ(kept().left, (Left{{kKey, 5}}));

  fails = false;
  while_it_takes_part(holds_up, [&] { arrival_.finish(rest); });
  EXPECT_EQ(kept().serials.at(kGone), 1U);
  EXPECT_TRUE(kept().left.empty());
  EXPECT_EQ(recovered_value(), 105U);
  store_.elsewhere().read_by(nullptr);
}

// As those that the client would have been told of: the arrival would never end.
TEST_F(LeftAdditions, OneThatItsKeysValueDoesNotTakeIsNotMade) {
  begin();
  const std::vector<std::byte> shorter(3, std::byte{1});
  std::vector<std::uint8_t> records;
  append(records, hybridlog::ScannedRecord{.key = kKey, .value = shorter});
  arrival_.take(records);
  arrival_.finish();
  arrival_.end();
  Client client(store_);
  const auto answer = hybridlog::testing::settled(client, client.read_value(kKey));
  EXPECT_EQ(answer.status, hybridlog::Status::kOk);
  EXPECT_EQ(client.value().size(), shorter.size());
}

}  // namespace
}  // namespace turntable::shadowfax
