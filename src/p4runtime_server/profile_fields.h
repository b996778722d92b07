// The names of fields of action profiles and selectors in softswitch's commands: BfRt's, and one of
// its own for weights.
#pragma once

namespace turntable::p4runtime_server {

inline constexpr const char* kMember = "$ACTION_MEMBER_ID";
inline constexpr const char* kStatus = "$ACTION_MEMBER_STATUS";
inline constexpr const char* kWeight = "$ACTION_MEMBER_WEIGHT";
inline constexpr const char* kGroup = "$SELECTOR_GROUP_ID";
inline constexpr const char* kMost = "$MAX_GROUP_SIZE";

}  // namespace turntable::p4runtime_server
