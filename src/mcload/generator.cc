#include "mcload/generator.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "common/command_error.h"

namespace turntable::mcload {
namespace {

// Distances are nanoseconds in 64 bits: a distribution's longest must be among them.
constexpr double kLeastThreadRate = 1e-6;

}  // namespace

void Measured::merge(const Measured& other) {
  window_ns = std::max(window_ns, other.window_ns);
  waited_ns = std::max(waited_ns, other.waited_ns);
  loop.merge(other.loop);
  key_value.merge(other.key_value);
  threads.insert(threads.end(), other.threads.begin(), other.threads.end());
}

double Measured::achieved_per_s() const noexcept {
  return window_ns > 0 ? static_cast<double>(loop.delivered) * 1e9 / static_cast<double>(window_ns)
                       : 0;
}

Offered Measured::latencies(bool from_send) const noexcept {
  if (from_send) return {loop.from_send_ns, loop.lost, waited_ns};
  return {loop.latency_ns, loop.lost + loop.unsent, waited_ns};
}

std::int64_t Measured::percentile_ns(double percentile) const noexcept {
  const Offered all = latencies(/*from_send=*/false);
  return all.has_answer_at(percentile) ? all.percentile_ns(percentile) : -1;
}

void check_load(const GeneratorSettings& settings) {
  const std::uint64_t under_way = std::uint64_t{settings.threads} * settings.servers.size() *
                                  settings.connections * settings.depth;
  if (under_way > kMaxUnderWay) {
    throw std::invalid_argument(
        "threads x servers x connections x depth: " + std::to_string(under_way) +
        " requests under way; expected at most " + std::to_string(kMaxUnderWay));
  }
  if (settings.is_closed_loop) return;
  const double of_thread = settings.rate_per_s / settings.threads;
  const load::Arrivals checked(load::arrivals_of(settings.arrivals, of_thread));
  if (of_thread >= kLeastThreadRate) return;
  std::ostringstream message;
  message << "a rate of " << of_thread << "/s for each thread; expected at least "
          << kLeastThreadRate << "/s";
  throw std::invalid_argument(message.str());
}

Generator::Generator(const std::string& where, const GeneratorSettings& settings)
    : settings_(settings) {
  try {
    check_load(settings);
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ": " + error.what());
  }
  for (std::uint32_t thread = 0; thread < settings.threads; ++thread)
    threads_.push_back(ClientThread::make(where, settings_, thread));
}

std::vector<load::Part*> Generator::parts() const {
  std::vector<load::Part*> parts;
  for (const auto& thread : threads_) parts.push_back(thread.get());
  return parts;
}

void Generator::draw(std::int64_t warmup_ns, std::int64_t measure_ns, std::int64_t drain_ns) {
  schedule_ = {.start_ns = 0,
               .window_from_ns = warmup_ns,
               .window_until_ns = warmup_ns + measure_ns,
               .drain_until_ns = warmup_ns + measure_ns + drain_ns};
  for (const auto& thread : threads_) thread->set_schedule(schedule_);
}

void Generator::play(std::int64_t start_ns, const std::atomic<bool>& cancelled) {
  schedule_ = schedule_.starting_at(start_ns);
  for (const auto& thread : threads_) thread->start_at(start_ns);
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t running = threads_.size();
  std::vector<std::jthread> playing;
  for (const auto& thread : threads_) {
    playing.emplace_back([&, part = thread.get()] {
      part->run();
      const std::lock_guard lock(mutex);
      --running;
      ended.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, std::chrono::milliseconds(20), [&] { return running == 0; })) {
    if (!cancelled) continue;
    for (const auto& thread : threads_) thread->stop();
  }
  lock.unlock();
}

Measured Generator::measured(const load::Schedule& schedule) const {
  Measured all;
  all.window_ns = schedule.window_ns();
  all.waited_ns = schedule.drain_until_ns - schedule.window_until_ns;
  for (const auto& thread : threads_) {
    all.loop.merge(thread->loop_statistics());
    all.key_value.merge(thread->statistics());
    all.threads.push_back(thread->timing());
  }
  return all;
}

}  // namespace turntable::mcload
