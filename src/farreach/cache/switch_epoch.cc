#include "farreach/cache/switch_epoch.h"

#include <algorithm>

#include "common/clock.h"

namespace turntable::cache {
namespace {

// Behind what the request says otherwise.
std::optional<std::size_t> place_of_epoch(MessageType type) {
  switch (type) {
    case MessageType::kBegin:
    case MessageType::kPoint:
    case MessageType::kFinish:
    case MessageType::kSetNumbers:
      return 1;
    case MessageType::kRestore:
    case MessageType::kReadmit:
    case MessageType::kServe:
      return 0;
    default:
      return std::nullopt;
  }
}

bool needs_serving(MessageType type) {
  return type == MessageType::kBegin || type == MessageType::kReadmit;
}

}  // namespace

std::uint32_t next_epoch(std::uint32_t last) {
  const auto now = static_cast<std::uint32_t>(realtime_ns() >> 20U);
  const std::uint32_t next = now == last ? last + 1 : now;
  return next == 0 ? 1 : next;
}

bool names_epoch(MessageType type) {
  return place_of_epoch(type).has_value();
}

std::optional<std::uint32_t> epoch_of(const Message& request) {
  const auto place = place_of_epoch(request.type);
  if (!place || request.numbers.size() != *place + 1) return std::nullopt;
  return request.numbers[*place];
}

SwitchEpoch epoch_in(const Message& cached_set) {
  constexpr std::size_t kNumber = 3, kServes = 4;
  const auto& numbers = cached_set.numbers;
  if (numbers.size() <= kServes) return {};
  return {.number = numbers[kNumber], .serves = numbers[kServes] != 0};
}

std::string why_empty(const SwitchEpoch& epoch) {
  return "the switch was emptied or started again (epoch " + std::to_string(epoch.number) +
         ") and has not got back what it had; expected cache-controller `recover`, or `warm_up` if "
         "the stores begin anew";
}

std::string refusal_of(const Message& request, const SwitchEpoch& epoch) {
  if (!names_epoch(request.type)) return "";
  const auto named = epoch_of(request);
  if (!named) return "expected the number of a switch epoch as its last number";
  if (*named != epoch.number) {
    return "it is for switch epoch " + std::to_string(*named) + ", and this is epoch " +
           std::to_string(epoch.number) + ": the agent has been configured since";
  }
  return needs_serving(request.type) && !epoch.serves ? why_empty(epoch) : "";
}

}  // namespace turntable::cache
