#include "shadowfax/client/fill.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "shadowfax/client/open_sessions.h"
#include "shadowfax/client/value_pattern.h"

namespace turntable::shadowfax {
namespace {

constexpr int kLookMs = 20;         // how often deadline and cancellation are looked at
constexpr std::uint64_t kMark = 0;  // of all values

Batching batching_of(const FillSettings& settings) {
  const std::size_t bytes = std::max(settings.batch_bytes, RequestHeader::kBytes);
  const std::size_t fit = (bytes - RequestHeader::kBytes) / Sizes(settings.value_bytes).request();
  return {.batch_requests = std::max<std::size_t>(1, fit),
          .pipeline = settings.pipeline,
          .value_bytes = settings.value_bytes};
}

class Filler : private Sessions::Replies {
 public:
  Filler(const FillSettings& settings, std::size_t worker, std::int64_t deadline_ns,
         const std::atomic<bool>& cancelled)
      : settings_(settings),
        deadline_ns_(deadline_ns),
        cancelled_(cancelled),
        rest_(settings.value_bytes - kFewestValueBytes),
        sessions_(open_sessions(settings.servers, batching_of(settings), worker)) {}

  // Keys number first, first + step, …
  std::uint64_t store(std::uint64_t first, std::uint64_t step) {
    for (std::uint64_t number = first; number < settings_.keys; number += step) {
      const std::uint64_t key = settings_.file ? settings_.file->keys()[number] : number;
      while (!sessions_->has_room(key)) wait();
      ValuePattern(key, kMark).write(rest_);
      sessions_->add({Opcode::kUpsert, key, 0}, rest_, 0);
    }
    sessions_->flush();
    while (!sessions_->is_idle()) wait();
    return stored_;
  }

 private:
  void done(const Reply& reply, std::uint64_t /*context*/) override {
    if (reply.status != ReplyStatus::kOk) {
      throw std::runtime_error(
          "a server has not stored key number " + std::to_string(stored_) + ": " +
          (refusal_.empty() ? "its log's device is full or fails" : "it says " + refusal_));
    }
    ++stored_;
  }
  void recovered(Opcode /*opcode*/, std::uint64_t /*context*/) override { ++stored_; }
  void refused(std::string_view why) override {
    if (refusal_.empty()) refusal_ = why;
  }

  void wait() {
    if (cancelled_) throw std::runtime_error("the node is ending");
    if (monotonic_ns() > deadline_ns_) throw std::runtime_error(why_late());
    sessions_->wait(*this, kLookMs);
    if (sessions_->lost_sessions() > 0) throw SessionError(sessions_->lost_why());
  }

  std::string why_late() const {
    std::string why = "the deadline has passed with " + std::to_string(stored_) + " keys stored";
    if (const std::uint64_t lost = sessions_->unreplayed(); lost > 0) {
      why += ", of which " + std::to_string(lost) +
             " could not be sent again to servers that have lost them";
    }
    return why;
  }

  const FillSettings& settings_;
  const std::int64_t deadline_ns_;
  const std::atomic<bool>& cancelled_;
  std::vector<std::byte> rest_;  // of a value
  const std::unique_ptr<Sessions> sessions_;
  std::string refusal_;  // the first one
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
