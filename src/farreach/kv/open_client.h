// A thread of kvclient with an open loop: the requests of its logical clients leave at instants
// that were drawn before, whether answers come or not.
//
//   start                                  window_from       window_until
//   | one at a time | drawn instants ...     | measured          |  drain
//
// The first requests measure the way to the servers and back while nobody else asks: all clients'
// take turns, so far apart that none waits for another.
#pragma once

#include <memory>

#include "farreach/kv/client_part.h"
#include "farreach/kv/open_book.h"
#include "farreach/kv/open_codec.h"
#include "farreach/kv/open_order.h"
#include "load/open_loop_thread.h"

namespace turntable::kv {

class OpenClient final : public ClientPart {
 public:
  struct Settings {
    OpenOrder::Settings order;
    std::uint32_t value_bytes = 0;
    std::size_t copies_max = 0;
    load::OpenLoop::Settings loop{};
    load::ThreadFrame::Settings frame{};

    double rate_per_s = 0;  // of this thread
    load::Process process = load::Process::kExponential;
    std::uint64_t seed = 0;  // of the instants; with the number of the first client

    // Requests that are sent one at a time: the first after `probe_offset_ns`, and so on.
    std::uint64_t probes = 0;
    std::int64_t probe_offset_ns = 0;
    std::int64_t probe_period_ns = 0;
    std::int64_t load_offset_ns = 0;  // from the start to where the drawn instants begin
  };

  // `replay` must outlive this object.
  OpenClient(const Settings& settings, const Replay& replay,
             std::unique_ptr<net::Datagrams> datagrams);
  static net::DatagramSettings datagrams_for(const Settings& settings);

  // Throws std::length_error for too many requests.
  void set_schedule(const load::Schedule& schedule) override;
  void run() override;
  void stop() noexcept override { thread_.stop(); }

  void read_waiting() noexcept override { thread_.read_waiting(); }
  ClientCopies& copies() noexcept override { return book_.copies; }
  std::int64_t answers() const noexcept override { return book_.answers.get(); }
  std::uint32_t drops() const override { return thread_.drops(); }
  std::size_t buffer_bytes() const override { return thread_.datagrams().buffer_bytes(); }

  // After run().
  const ClientStatistics& statistics() const override { return book_.statistics; }
  const load::ThreadTiming& timing() const override { return thread_.timing(); }
  const OpenBook& book() const { return book_; }
  const load::OpenLoop& loop() const { return thread_.loop(); }
  const OpenOrder& order() const { return order_; }

 private:
  load::Gap gap() const;

  const Settings settings_;
  const OpenOrder order_;
  OpenBook book_;
  load::OpenLoopThread<OpenCodec> thread_;
};

}  // namespace turntable::kv
