#include "farreach/cache/server_hello.h"

namespace turntable::cache {
namespace {

constexpr std::size_t kHeader = 3;  // version, scale, whether it holds writes back
constexpr std::size_t kEach = 2;    // partition, store

}  // namespace

Message message_of(const ServerHello& hello) {
  std::vector<std::uint32_t> numbers = {kMessagesVersion, hello.scale,
                                        hello.holds_writes ? 1U : 0U};
  for (const auto& [partition, store] : hello.served) {
    numbers.push_back(partition);
    numbers.push_back(store);
  }
  return request(MessageType::kHello, std::move(numbers));
}

std::optional<ServerHello> read_hello(const Message& message, unsigned scale) {
  const auto& numbers = message.numbers;
  if (numbers.size() < kHeader || (numbers.size() - kHeader) % kEach != 0) return std::nullopt;
  if (numbers[0] != kMessagesVersion || numbers[1] != scale) return std::nullopt;
  ServerHello hello{.scale = scale, .holds_writes = numbers[2] != 0, .served = {}};
  for (std::size_t i = kHeader; i < numbers.size(); i += kEach) {
    if (numbers[i] >= scale) return std::nullopt;
    hello.served.push_back({numbers[i], numbers[i + 1]});
  }
  return hello;
}

void append_cached(const std::vector<CachedKey>& keys, Message& message) {
  for (const auto& [key, admission] : keys) {
    message.numbers.push_back(admission.id);
    message.records.push_back(key_only(key));
    message.records.back().number = admission.number;
  }
}

std::vector<CachedKey> read_cached(const Message& message, std::size_t first) {
  std::vector<CachedKey> keys;
  for (std::size_t i = 0; i < message.records.size() && first + i < message.numbers.size(); ++i) {
    const Record& record = message.records[i];
    keys.push_back({record.key, {.id = message.numbers[first + i], .number = record.number}});
  }
  return keys;
}

}  // namespace turntable::cache
