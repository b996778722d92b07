// What a logical server does with a request: the part of a server that differs between methods.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "common/counter.h"
#include "farreach/kv/packet.h"
#include "farreach/kv/reassembly.h"
#include "farreach/kv/store.h"

namespace turntable::kv {

struct HandlerCounters {
  Counter reads;
  Counter writes;
  Counter deletes;
  Counter not_found;     // reads of absent keys
  Counter misrouted;     // keys of another partition: not executed, not answered
  Counter store_errors;  // not answered: clients see a time-out and retry
};

// What a method's server does besides answering requests. The worker's thread calls it whenever it
// waits, so it needs no lock.
class BackgroundWork {
 public:
  virtual ~BackgroundWork() = default;

  // Becomes readable when there is something to do.
  virtual int event_fd() const noexcept = 0;
  // When there is something to do whatever happens until then; INT64_MAX: never.
  virtual std::int64_t next_ns() const noexcept = 0;
  virtual void run(std::int64_t now_ns) noexcept = 0;

  // Since when nothing holds back the request that was executed last; 0 if nothing ever did.
  virtual std::int64_t free_since_ns() const noexcept = 0;
  // The request executed last ends at `finish_ns`, in virtual time.
  virtual void finished(std::int64_t finish_ns) noexcept = 0;
};

// Requests are executed one after the other on the worker's thread.
class RequestHandler {
 public:
  enum class Outcome : std::uint8_t {
    kAnswer,
    kNoAnswer,
    kHeldBack,  // not executed: try again after background work
  };
  using StoreErrors = std::function<void(const std::string&)>;

  // `on_store_error` is called on the worker's thread with RocksDB's message.
  RequestHandler(unsigned partition, unsigned scale, StoreErrors on_store_error);
  virtual ~RequestHandler() = default;
  RequestHandler(const RequestHandler&) = delete;
  RequestHandler& operator=(const RequestHandler&) = delete;

  // Whether `type` is a request that this handler executes.
  virtual bool accepts(PacketType type) const noexcept = 0;

  // Whether the key of `request` belongs here; counts it if not.
  bool owns(const Packet& request) noexcept;

  // Where large values are put together before they are executed. Must outlive the requests.
  void set_large_values(const Reassembly& values) noexcept { large_values_ = &values; }

  // Executes `request` (accepted and owned; a large value is whole), which came from `client`. The
  // value of `answer` is valid until the next call and as long as the request's.
  virtual Outcome execute(const Packet& request, const sockaddr_in& client, Packet& answer) = 0;

  // Null for a method that only answers.
  virtual BackgroundWork* background() noexcept { return nullptr; }

  // What only this method counts, as fields of the server's row (docs/raw-format.md).
  virtual nlohmann::json method_statistics() const;

  const HandlerCounters& counters() const { return counters_; }

 protected:
  // The answer to `request` before anything else is known about it.
  Packet answer_to(const Packet& request, PacketType type) const noexcept;
  Outcome store_failed(const std::string& message);

  // The largest number of a write of this key that is on its way: fragment 0 is here, others are
  // not yet. 0: there is none.
  std::uint32_t largest_incomplete(const PacketKey& key) const {
    return large_values_ != nullptr ? large_values_->largest_incomplete(key) : 0;
  }

  unsigned partition() const { return partition_; }
  HandlerCounters& count() { return counters_; }

 private:
  unsigned partition_;
  unsigned scale_;
  StoreErrors on_store_error_;
  const Reassembly* large_values_ = nullptr;
  HandlerCounters counters_;
};

}  // namespace turntable::kv
