#include "netclone/server/redis_executor.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::netclone {

nlohmann::json raw_counts(const RedisCounts& counts) {
  return {{"executed", counts.executed.load()},
          {"waited", counts.waited.load()},
          {"wrong", counts.wrong.load()},
          {"failed", counts.failed.load()}};
}

RedisExecutor::RedisExecutor(const std::filesystem::path& socket, std::uint32_t objects,
                             std::shared_ptr<RedisCounts> counts)
    : objects_(objects), counts_(std::move(counts)), connection_(socket, objects) {}

bool RedisExecutor::accepts(const Packet& request) const noexcept {
  return (request.operation == Operation::kGet || request.operation == Operation::kScan) &&
         request.object < objects_;
}

// A redis-server that has gone is counted with every request, so the run says so.
template <typename Action>
void RedisExecutor::attempt(const Action& action) noexcept {
  try {
    action();
  } catch (const CommandError&) {
    ++counts_->failed;
  }
}

std::uint64_t RedisExecutor::begin(const Packet& request) noexcept {
  const std::uint64_t ticket = connection_.next_ticket();
  ++counts_->executed;
  attempt([&] { connection_.send(request.operation, request.object); });
  return ticket;
}

void RedisExecutor::finish(std::uint64_t ticket) noexcept {
  attempt([&] {
    connection_.poll();
    if (!connection_.has_answer(ticket)) ++counts_->waited;
    wait_for(ticket);
  });
}

void RedisExecutor::execute(const Packet& request) noexcept {
  const std::uint64_t ticket = begin(request);
  attempt([&] { wait_for(ticket); });
}

void RedisExecutor::wait_for(std::uint64_t ticket) {
  if (!connection_.wait_for(ticket)) ++counts_->failed;
  counts_->wrong += static_cast<std::int64_t>(connection_.take_wrong());
}

}  // namespace turntable::netclone
