// Groups of an action profile's members (TNA's ActionSelector): a hash chooses one of a group.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace turntable::dataplane {

class ActionSelector {
 public:
  // No member has this number: numbers have 32 bits.
  static constexpr std::uint64_t kNobody = std::uint64_t{1} << 32U;

  // BfRt's for one that the driver is to choose.
  static constexpr std::uint32_t kNoAdtOffset = 0xDEADBEEF;

  struct Member {
    std::uint32_t id;
    bool is_active;
    std::uint32_t weight = 1;  // it is chosen as if it were there so many times
  };
  struct Group {
    std::vector<Member> members;  // one may be there several times, as BfRt's clients weigh them
    std::uint32_t most = 0;       // of all weights together
    // Where a chip has the members in its memory; here it is only kept.
    std::uint32_t adt_offset = kNoAdtOffset;

    std::uint64_t weight() const noexcept;
    std::uint64_t active_weight() const noexcept;
  };

  // group_size: of a group at most, and of one that does not say. is_resilient: what chose a member
  // that is active still chooses it when others become inactive.
  ActionSelector(std::uint32_t group_size, std::uint32_t groups, bool is_resilient)
      : group_size_(group_size), capacity_(groups), is_resilient_(is_resilient) {}

  // The active member of a group that the hash chooses; kNobody where it has none.
  std::uint64_t choose(std::uint64_t group, std::uint64_t hash) const noexcept;

  std::uint32_t group_size() const noexcept { return group_size_; }
  std::uint32_t capacity() const noexcept { return capacity_; }
  const std::map<std::uint32_t, Group>& groups() const noexcept { return groups_; }
  // Control plane.
  void put(std::uint32_t group, Group members);
  void erase(std::uint32_t group);
  bool has_member(std::uint32_t member) const { return groups_of_.contains(member); }  // any group

 private:
  std::uint32_t group_size_, capacity_;
  bool is_resilient_;
  std::map<std::uint32_t, Group> groups_;
  std::map<std::uint32_t, std::uint32_t> groups_of_;  // a member that has any: how many
};

}  // namespace turntable::dataplane
