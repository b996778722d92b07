#include "shadowfax/client/fill.h"

#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "shadowfax/client/router.h"
#include "shadowfax/client/value_pattern.h"

namespace turntable::shadowfax {
namespace {

constexpr int kLookMs = 20;  // how often deadline and cancellation are looked at
constexpr std::size_t kBatchBytes = std::size_t{32} << 10U;
constexpr std::uint64_t kMark = 0;  // of all values

std::size_t batch_requests(std::size_t value_bytes) {
  return std::max<std::size_t>(
      1, (kBatchBytes - RequestHeader::kBytes) / Sizes(value_bytes).request());
}

class Filler : private Router::Replies {
 public:
  Filler(const FillSettings& settings, std::size_t worker, std::int64_t deadline_ns,
         const std::atomic<bool>& cancelled)
      : settings_(settings),
        deadline_ns_(deadline_ns),
        cancelled_(cancelled),
        rest_(settings.value_bytes - kFewestValueBytes),
        router_(open_router(settings.servers,
                            {.batch_requests = batch_requests(settings.value_bytes),
                             .value_bytes = settings.value_bytes},
                            worker)) {}

  // Keys number first, first + step, …
  std::uint64_t store(std::uint64_t first, std::uint64_t step) {
    for (std::uint64_t number = first; number < settings_.keys; number += step) {
      const std::uint64_t key = settings_.file ? settings_.file->keys()[number] : number;
      while (!router_->has_room(key)) wait();
      ValuePattern(key, kMark).write(rest_);
      router_->add({Opcode::kUpsert, key, 0}, rest_, 0);
    }
    router_->flush();
    while (router_->outstanding() > 0) wait();
    return stored_;
  }

 private:
  void done(const Reply& reply, std::uint64_t /*context*/) override {
    if (reply.status != ReplyStatus::kOk)
      throw std::runtime_error("a server has no room for key " + std::to_string(stored_) +
                               " and those behind: its log's device is full or fails");
    ++stored_;
  }
  void recovered(Opcode /*opcode*/, std::uint64_t /*context*/) override { ++stored_; }

  void wait() {
    if (cancelled_) throw std::runtime_error("the node is ending");
    if (monotonic_ns() > deadline_ns_)
      throw std::runtime_error("the deadline has passed with " + std::to_string(stored_) +
                               " keys stored");
    router_->wait(*this, kLookMs);
    if (router_->lost_sessions() > 0) throw SessionError(router_->lost_why());
  }

  const FillSettings& settings_;
  const std::int64_t deadline_ns_;
  const std::atomic<bool>& cancelled_;
  std::vector<std::byte> rest_;  // of a value
  const std::unique_ptr<Router> router_;
  std::uint64_t stored_ = 0;
};

}  // namespace

std::uint64_t fill(const FillSettings& settings, std::int64_t deadline_ns,
                   const std::atomic<bool>& cancelled) {
  const std::size_t threads = settings.threads;
  std::atomic<std::uint64_t> stored{0};
  std::mutex mutex;
  std::exception_ptr failure;
  {
    std::vector<std::jthread> fillers;
    fillers.reserve(threads);
    for (std::size_t thread = 0; thread < threads; ++thread) {
      fillers.emplace_back([&, thread] {
        try {
          Filler filler(settings, thread, deadline_ns, cancelled);
          stored +=
              filler.store(settings.client + thread * settings.clients, settings.clients * threads);
        } catch (const std::exception&) {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
  return stored;
}

}  // namespace turntable::shadowfax
