#include "shadowfax/client/fill.h"

#include <poll.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/clock.h"
#include "hybridlog/key_hash.h"
#include "shadowfax/client/client_session.h"
#include "shadowfax/client/value_pattern.h"
#include "shadowfax/ownership.h"

namespace turntable::shadowfax {
namespace {

constexpr int kLookMs = 20;  // how often deadline and cancellation are looked at
constexpr std::size_t kBatchBytes = std::size_t{32} << 10U;
constexpr std::uint64_t kMark = 0;  // of all values

std::size_t batch_requests(std::size_t value_bytes) {
  return std::max<std::size_t>(
      1, (kBatchBytes - RequestHeader::kBytes) / Sizes(value_bytes).request());
}

class Filler : private ClientSession::Replies {
 public:
  Filler(const FillSettings& settings, std::size_t worker, std::int64_t deadline_ns,
         const std::atomic<bool>& cancelled)
      : settings_(settings),
        deadline_ns_(deadline_ns),
        cancelled_(cancelled),
        rest_(settings.value_bytes - kFewestValueBytes) {
    for (const ServerAddress& server : settings.servers) {
      sessions_.push_back(std::make_unique<ClientSession>(
          ClientSession::Settings{.address = server.address,
                                  .port = server.port_for(worker),
                                  .batch_requests = batch_requests(settings.value_bytes),
                                  .value_bytes = settings.value_bytes}));
      polled_.push_back({.fd = sessions_.back()->fd(), .events = POLLIN, .revents = 0});
    }
  }

  // Keys first, first + step, …
  std::uint64_t store(std::uint64_t first, std::uint64_t step) {
    for (std::uint64_t key = first; key < settings_.keys; key += step) {
      ClientSession& session = *sessions_[owner_of(hybridlog::hash_of(key), sessions_.size())];
      while (!session.has_room()) wait();
      ValuePattern(key, kMark).write(rest_);
      session.add({Opcode::kUpsert, key, 0}, rest_, 0);
    }
    for (const auto& session : sessions_) session->flush();
    const auto is_waited_for = [](const auto& each) { return each->outstanding() > 0; };
    while (std::any_of(sessions_.begin(), sessions_.end(), is_waited_for)) wait();
    return stored_;
  }

 private:
  void done(const Reply& reply, std::uint64_t /*context*/) override {
    if (reply.status != ReplyStatus::kOk)
      throw std::runtime_error("a server has no room for key " + std::to_string(stored_) +
                               " and those behind: its log's device is full or fails");
    ++stored_;
  }

  void wait() {
    if (cancelled_) throw std::runtime_error("the node is ending");
    if (monotonic_ns() > deadline_ns_)
      throw std::runtime_error("the deadline has passed with " + std::to_string(stored_) +
                               " keys stored");
    for (std::size_t i = 0; i < polled_.size(); ++i)
      polled_[i].events = sessions_[i]->is_blocked() ? POLLIN | POLLOUT : POLLIN;
    ::poll(polled_.data(), polled_.size(), kLookMs);
    for (std::size_t i = 0; i < polled_.size(); ++i) sessions_[i]->receive(*this);
  }

  const FillSettings& settings_;
  const std::int64_t deadline_ns_;
  const std::atomic<bool>& cancelled_;
  std::vector<std::byte> rest_;  // of a value
  std::vector<std::unique_ptr<ClientSession>> sessions_;
  std::vector<pollfd> polled_;
  std::uint64_t stored_ = 0;
};

}  // namespace

std::uint64_t fill(const FillSettings& settings, std::int64_t deadline_ns,
                   const std::atomic<bool>& cancelled) {
  const std::size_t threads = settings.servers.front().ports.size();
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
