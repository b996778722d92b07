// The thread of one client with an open loop: datagrams, and a codec that says how requests and
// answers look.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "common/clock.h"
#include "load/open_loop.h"
#include "load/thread_frame.h"
#include "net/datagrams.h"

namespace turntable::load {

// A Codec has
//   static constexpr std::size_t kMaxDatagrams;   // of one request
//   // Adds the datagrams of a request to `out`, which has room for them; answers how many.
//   unsigned send(std::uint64_t number, std::int64_t now_ns, net::Datagrams& out) noexcept;
//   // The request that a datagram answers. Nothing: it is no answer to this client; the codec
//   // counts it.
//   std::optional<std::uint64_t> decode(const net::Datagrams::Received& datagram) noexcept;
//   // What became of the answer that was decoded last.
//   void counted(const OpenLoop::Counted& answer) noexcept;
// and may have
//   // A datagram with this tag could not be sent.
//   void refused(std::uint32_t tag) noexcept;
template <typename Codec>
class OpenLoopThread final : private Loop {
 public:
  struct Packets {
    std::int64_t sent = 0;
    std::int64_t received = 0;  // answers of this client's, as the codec says
    std::int64_t unknown = 0;   // of these, to a request that was never sent
    std::int64_t send_errors = 0;
    std::int64_t receive_errors = 0;
  };

  OpenLoopThread(OpenLoop loop, Codec codec, std::unique_ptr<net::Datagrams> datagrams,
                 const ThreadFrame::Settings& frame)
      : loop_(std::move(loop)),
        codec_(std::move(codec)),
        datagrams_(std::move(datagrams)),
        frame_(*this, frame) {}

  // Before run(): allocates what the schedule needs.
  void set_schedule(const Schedule& schedule, const Gap& gap) {
    loop_.set_schedule(schedule, gap);
    frame_.set_schedule(schedule);
  }
  void run() { frame_.run(); }                             // once
  void stop() noexcept { frame_.stop(); }                  // thread-safe
  void read_waiting() noexcept { frame_.read_waiting(); }  // as ThreadFrame's

  net::Datagrams& datagrams() noexcept { return *datagrams_; }  // not while it runs
  const net::Datagrams& datagrams() const noexcept { return *datagrams_; }
  std::uint32_t drops() const { return datagrams_->drops(); }  // thread-safe

  // After run().
  const OpenLoop& loop() const noexcept { return loop_; }
  const Codec& codec() const noexcept { return codec_; }
  const Packets& packets() const noexcept { return packets_; }
  const ThreadTiming& timing() const noexcept { return frame_.timing(); }

 private:
  int fd() const noexcept override { return datagrams_->fd(); }
  void begin(std::int64_t /*now_ns*/) noexcept override {}
  void enter(Phase /*phase*/) noexcept override {}
  // After a batch that was not full there is nothing more for the moment: no need to ask.
  int receive() noexcept override {
    if (std::exchange(emptied_, false)) return count_ = 0;
    count_ = datagrams_->receive();
    emptied_ = count_ > 0 && static_cast<std::size_t>(count_) < datagrams_->capacity();
    return count_;
  }
  std::optional<std::int64_t> oldest_arrival_ns() const noexcept override {
    const auto oldest = datagrams_->at(0);
    return oldest.has_stamp ? std::optional(oldest.received_ns) : std::nullopt;
  }

  void handle_batch(std::int64_t now_ns) noexcept override {
    const std::int64_t realtime = realtime_ns();
    for (int i = 0; i < count_; ++i) {
      const auto datagram = datagrams_->at(static_cast<std::size_t>(i));
      const auto number = codec_.decode(datagram);
      if (!number) continue;
      ++packets_.received;
      const std::int64_t lay_ns = datagram.has_stamp ? realtime - datagram.received_ns : 0;
      const auto counted = loop_.answered(*number, now_ns - lay_ns, now_ns);
      if (counted.answer == OpenLoop::Answer::kUnknown) {
        ++packets_.unknown;
      } else {
        codec_.counted(counted);
      }
    }
  }

  // The clock is read for each request: encoding a batch takes its time.
  void act(std::int64_t now_ns) noexcept override {
    while (const auto number = loop_.take_due(now_ns)) {
      if (datagrams_->waiting() + Codec::kMaxDatagrams > datagrams_->capacity()) flush();
      packets_.sent += codec_.send(*number, now_ns, *datagrams_);
      now_ns = monotonic_ns();
    }
    flush();
  }

  void flush() noexcept {
    datagrams_->flush([this](std::uint32_t tag, int) {
      --packets_.sent;
      ++packets_.send_errors;
      if constexpr (requires { codec_.refused(tag); }) codec_.refused(tag);
    });
  }

  std::int64_t next_due_ns() const noexcept override { return loop_.next_due_ns(); }
  std::size_t outstanding() const noexcept override { return loop_.open(); }
  void count_receive_error() noexcept override { ++packets_.receive_errors; }
  void end() noexcept override { loop_.end(); }

  OpenLoop loop_;
  Codec codec_;
  std::unique_ptr<net::Datagrams> datagrams_;
  int count_ = 0;         // of the batch
  bool emptied_ = false;  // it was all there was
  Packets packets_;
  ThreadFrame frame_;
};

}  // namespace turntable::load
