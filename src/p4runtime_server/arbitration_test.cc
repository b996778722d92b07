// Rules and expected statuses: P4Runtime 1.4, "Rules for Handling MasterArbitrationUpdate" and
// "Client Arbitration Notifications".
#include "p4runtime_server/arbitration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace turntable::p4runtime_server {
namespace {

using grpc::StatusCode;

Arbitration::Update asked(std::optional<std::uint64_t> id, const std::string& role = "",
                          std::uint64_t device = kDeviceId) {
  Arbitration::Update update;
  update.set_device_id(device);
  if (!role.empty()) update.mutable_role()->set_name(role);
  if (id) update.mutable_election_id()->set_low(*id);
  return update;
}

p4::v1::Uint128 number(std::uint64_t low, std::uint64_t high = 0) {
  p4::v1::Uint128 id;
  id.set_low(low);
  id.set_high(high);
  return id;
}

// Stream and status of each notice.
std::vector<std::pair<StreamId, int>> told(const std::vector<Arbitration::Notice>& notices) {
  std::vector<std::pair<StreamId, int>> all;
  for (const auto& notice : notices) all.emplace_back(notice.stream, notice.update.status().code());
  return all;
}

template <typename Call>
StatusCode refused(const Call& call) {
  try {
    call();
  } catch (const Refusal& refusal) {
    return refusal.code();
  }
  return StatusCode::OK;
}

using Told = std::vector<std::pair<StreamId, int>>;

TEST(Arbitration, TheHighestIsPrimaryAndTheOthersAreTold) {
  Arbitration clients;
  EXPECT_EQ(told(clients.update(1, asked(5))), (Told{{1, StatusCode::OK}}));
  EXPECT_EQ(told(clients.update(2, asked(3))), (Told{{2, StatusCode::ALREADY_EXISTS}}));
  EXPECT_EQ(told(clients.update(3, asked(7))), (Told{{1, StatusCode::ALREADY_EXISTS},
                                                     {2, StatusCode::ALREADY_EXISTS},
                                                     {3, StatusCode::OK}}));
  EXPECT_TRUE(clients.is_primary(3));
  EXPECT_EQ(refused([&] { clients.check_primary("", number(7)); }), StatusCode::OK);
  EXPECT_EQ(refused([&] { clients.check_primary("", number(5)); }), StatusCode::PERMISSION_DENIED);
}

TEST(Arbitration, NoBackupTakesThePlaceOfAPrimaryThatWent) {
  Arbitration clients;
  clients.update(1, asked(5));
  clients.update(2, asked(3));
  EXPECT_EQ(told(clients.leave(1)), (Told{{2, StatusCode::NOT_FOUND}}));
  EXPECT_EQ(refused([&] { clients.check_primary("", number(3)); }), StatusCode::PERMISSION_DENIED);
  // The highest ever is 5: 4 is not enough, 5 is.
  EXPECT_EQ(told(clients.update(2, asked(4))), (Told{{2, StatusCode::NOT_FOUND}}));
  EXPECT_EQ(told(clients.update(2, asked(5))), (Told{{2, StatusCode::OK}}));
}

TEST(Arbitration, APrimaryThatLowersItsIdIsNone) {
  Arbitration clients;
  clients.update(1, asked(5));
  clients.update(2, asked(3));
  const auto notices = clients.update(1, asked(1));
  EXPECT_EQ(told(notices), (Told{{1, StatusCode::NOT_FOUND}, {2, StatusCode::NOT_FOUND}}));
  EXPECT_EQ(notices[0].update.election_id().low(), 5U);  // the highest ever
}

TEST(Arbitration, WithoutAnIdAClientIsABackup) {
  Arbitration clients;
  const auto notices = clients.update(1, asked(std::nullopt));
  EXPECT_EQ(told(notices), (Told{{1, StatusCode::NOT_FOUND}}));
  EXPECT_FALSE(notices[0].update.has_election_id());
  clients.update(2, asked(std::nullopt));  // several may have none
  // Zero is an id.
  EXPECT_EQ(told(clients.update(3, asked(0))).back(),
            (std::pair<StreamId, int>{3, StatusCode::OK}));
}

TEST(Arbitration, IdsAreOf128Bits) {
  Arbitration clients;
  Arbitration::Update high = asked(0);
  high.mutable_election_id()->set_high(1);
  clients.update(1, high);
  EXPECT_EQ(told(clients.update(2, asked(~std::uint64_t{0}))),
            (Told{{2, StatusCode::ALREADY_EXISTS}}));
  EXPECT_EQ(refused([&] { clients.check_primary("", number(0, 1)); }), StatusCode::OK);
}

TEST(Arbitration, RolesHaveTheirOwnPrimaries) {
  Arbitration clients;
  clients.update(1, asked(5, "a"));
  EXPECT_EQ(told(clients.update(2, asked(5, "b"))), (Told{{2, StatusCode::OK}}));
  EXPECT_EQ(refused([&] { clients.check_primary("a", number(5)); }), StatusCode::OK);
  EXPECT_EQ(refused([&] { clients.check_primary("c", number(5)); }), StatusCode::NOT_FOUND);
  // The default role is there, whoever asks.
  EXPECT_EQ(refused([&] { clients.check_primary("", number(5)); }), StatusCode::PERMISSION_DENIED);
}

TEST(Arbitration, WrongUpdatesAreRefused) {
  Arbitration clients;
  EXPECT_EQ(refused([&] { clients.update(1, asked(1, "", 2)); }), StatusCode::NOT_FOUND);
  clients.update(1, asked(1));
  EXPECT_EQ(refused([&] { clients.update(1, asked(1, "", 2)); }), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused([&] { clients.update(1, asked(1, "a")); }), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused([&] { clients.update(2, asked(1)); }), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(clients.clients(), 1U);  // who was refused is none
  for (StreamId stream = 2; stream <= kMostClients; ++stream) clients.update(stream, asked(stream));
  EXPECT_EQ(refused([&] { clients.update(1000, asked(1000)); }), StatusCode::RESOURCE_EXHAUSTED);
}

TEST(Arbitration, RolesThatAreGoneTakeNoRoomForEver) {
  Arbitration clients;
  for (std::size_t i = 0; i < kMostRoles; ++i) {
    clients.update(1, asked(1, "role " + std::to_string(i)));
    clients.leave(1);
  }
  EXPECT_EQ(refused([&] { clients.update(1, asked(1, "one more")); }),
            StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused([&] { clients.update(1, asked(1, "role 0")); }), StatusCode::OK);
  EXPECT_EQ(refused([&] { clients.update(2, asked(1, std::string(kMostRoleBytes, 'r'))); }),
            StatusCode::INVALID_ARGUMENT);
}

// Every sequence of five events of three clients: each asks with an id of 0, 1 or 2, or with none,
// or leaves. After each event the laws of the specification hold.
class EverySequence : public ::testing::Test {
 protected:
  static constexpr StreamId kClients = 3;
  static constexpr int kIds = 3;  // and "none"

  void explore(Arbitration clients, std::array<std::optional<int>, kClients + 1> ids,
               std::optional<int> highest, int left) {
    check(clients, ids, highest);
    if (left == 0) return;
    for (StreamId stream = 1; stream <= kClients; ++stream) {
      {
        Arbitration next = clients;
        auto now = ids;
        next.leave(stream);
        now[stream].reset();
        explore(next, now, highest, left - 1);
      }
      {
        Arbitration next = clients;
        auto now = ids;
        next.update(stream, asked(std::nullopt));
        now[stream].reset();
        explore(next, now, highest, left - 1);
      }
      for (int id = 0; id < kIds; ++id) {
        if (std::any_of(ids.begin(), ids.end(),
                        [&](const auto& other) { return &other != &ids[stream] && other == id; })) {
          continue;  // refused
        }
        Arbitration next = clients;
        auto now = ids;
        next.update(stream, asked(static_cast<std::uint64_t>(id)));
        now[stream] = id;
        explore(next, now, std::max(highest, std::optional<int>(id)), left - 1);
      }
    }
  }

  void check(const Arbitration& clients, const std::array<std::optional<int>, kClients + 1>& ids,
             std::optional<int> highest) {
    int primaries = 0;
    for (StreamId stream = 1; stream <= kClients; ++stream) {
      if (!clients.is_primary(stream)) continue;
      ++primaries;
      ASSERT_TRUE(ids[stream].has_value());
      ASSERT_EQ(ids[stream], highest);
    }
    ASSERT_LE(primaries, 1);
    for (int id = 0; id < kIds && highest; ++id) {
      const auto status =
          refused([&] { clients.check_primary("", number(static_cast<std::uint64_t>(id))); });
      ASSERT_EQ(status == StatusCode::OK, primaries == 1 && id == highest);
    }
    ++states_;
  }

  int states_ = 0;
};

TEST_F(EverySequence, KeepsOnePrimaryWithTheHighestId) {
  explore({}, {}, std::nullopt, 5);
  EXPECT_GT(states_, 10'000);
}

}  // namespace
}  // namespace turntable::p4runtime_server
