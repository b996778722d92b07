#include "hybridlog/versions.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace turntable::hybridlog {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{10};  // whether a cut is to be given up

}  // namespace

Versions::Versions(std::uint64_t first, Address begin, const Serials& ended)
    : version_(first), stable_(first - 1), cut_address_(begin) {
  for (const auto& [id, serial] : ended) ended_[id] = {.serial = serial, .at = Clock::now()};
}

std::optional<Serials> Versions::cut(const std::function<Address()>& crossing,
                                     const std::function<bool()>& gives_up) {
  const std::lock_guard one_at_a_time(cut_mutex_);
  std::unique_lock lock(mutex_);
  left_.clear();
  for (Member* const member : members_) member->has_crossed_ = false;
  enter(Phase::kPrepare);
  while (!are_all([](const Member& member) { return member.is_prepared_.load(); })) {
    if (gives_up()) {
      phase_.store(Phase::kRest);
      for (Member* const member : members_) member->is_prepared_ = false;
      return std::nullopt;
    }
    changed_.wait_for(lock, kBetweenLooks);
  }
  cut_address_.store(crossing());
  version_.fetch_add(1);
  enter(Phase::kCross);
  changed_.wait(lock,
                [this] { return are_all([](const Member& each) { return each.has_crossed_; }); });
  stable_.fetch_add(1);
  phase_.store(Phase::kRest);
  Serials serials;
  for (const auto& [id, ended] : ended_) serials.emplace_hint(serials.end(), id, ended.serial);
  for (const auto& [id, serial] : left_) serials[id] = serial;
  for (const Member* const member : members_)
    if (!member->id_.is_nobody()) serials[member->id_] = member->cut_serial_;
  lock.unlock();
  std::erase_if(serials, [](const auto& each) { return each.second == 0; });
  return serials;
}

void Versions::forget_ended(Clock::time_point before) {
  const std::lock_guard lock(mutex_);
  std::erase_if(ended_, [&](const auto& each) { return each.second.at < before; });
}

void Versions::enter(Phase phase) {
  phase_.store(phase);
  for (const Member* const member : members_)
    if (member->wake_) member->wake_();
}

template <typename Done>
bool Versions::are_all(const Done& done) const {
  return std::ranges::all_of(members_, [&](const Member* member) { return done(*member); });
}

// A session that begins during a cut has nothing pending: it is prepared, or in the new version.
Versions::Member::Member(Versions& versions, SessionId id, std::function<void()> wake)
    : versions_(versions), id_(id), wake_(std::move(wake)) {
  const std::lock_guard lock(versions.mutex_);
  for (const Member* const other : versions.members_) {
    if (!id.is_nobody() && other->id_ == id)
      throw std::logic_error("hybridlog: a session of this id lives already");
  }
  const auto earlier = versions.ended_.extract(id);
  serial_ = earlier ? earlier.mapped().serial : 0;
  const auto left = versions.left_.extract(id);
  cut_serial_ = left ? left.mapped() : serial_;
  take_version();
  is_prepared_ = versions.phase() == Phase::kPrepare;
  has_crossed_ = versions.phase() == Phase::kCross;
  versions.members_.insert(this);
}

Versions::Member::~Member() {
  {
    const std::lock_guard lock(versions_.mutex_);
    versions_.members_.erase(this);
    if (!id_.is_nobody() && serial_ > 0) {
      versions_.ended_[id_] = {.serial = serial_, .at = Clock::now()};
      if (versions_.phase() != Phase::kRest)
        versions_.left_[id_] = has_crossed_ ? cut_serial_ : serial_;
    }
  }
  versions_.changed_.notify_all();
}

void Versions::Member::prepare() {
  {
    const std::lock_guard lock(versions_.mutex_);
    is_prepared_ = versions_.phase() == Phase::kPrepare;
  }
  versions_.changed_.notify_all();
}

void Versions::Member::cross(bool in_operation) {
  {
    const std::lock_guard lock(versions_.mutex_);
    take_version();
    cut_serial_ = serial_ - (in_operation ? 1 : 0);
    is_prepared_ = false;
    has_crossed_ = true;
  }
  versions_.changed_.notify_all();
}

}  // namespace turntable::hybridlog
