// BfRt's names of the fields of action profiles and selectors, which softswitch's commands have.
#pragma once

namespace turntable::p4runtime_server {

inline constexpr const char* kMember = "$ACTION_MEMBER_ID";
inline constexpr const char* kStatus = "$ACTION_MEMBER_STATUS";
inline constexpr const char* kGroup = "$SELECTOR_GROUP_ID";
inline constexpr const char* kMost = "$MAX_GROUP_SIZE";

}  // namespace turntable::p4runtime_server
