// One session of a client at a server: batches in, replies out. No sockets: it is given bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "hybridlog/store.h"
#include "shadowfax/server/commits.h"
#include "shadowfax/server/range_check.h"
#include "shadowfax/server/serving.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

// A batch means nothing. The connection cannot go on.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class BatchServer {
 public:
  using Bytes = std::vector<std::byte>;

  // Where it is, and who it is.
  struct Place {
    hybridlog::Store& store;
    hybridlog::Epoch::Thread& thread;
    const Commits& commits;
    const Serving& serving;
    std::function<void()> wake = {};     // the thread (hybridlog::Versions::Member)
    std::size_t most_pending = 64;       // more requests that wait make it refuse batches
    const RangeCheck* ranges = nullptr;  // null: views say who owns what
  };
  // value_bytes: of the session's values, from kFewestValueBytes to the store's most. Throws
  // std::logic_error where a session of this id is open elsewhere.
  BatchServer(const Place& place, hybridlog::SessionId id,
              std::size_t value_bytes = kFewestValueBytes);

  Welcome welcome() const {
    return {.view = place_.serving.now().view,
            .served = served(),
            .committed = place_.commits.of(id_),
            .most_value_bytes = static_cast<std::uint32_t>(place_.store.most_value_bytes())};
  }
  // For checkpoints; often, at least after it was woken.
  void take_part() { session_.take_part(); }

  struct Served {
    std::size_t operations = 0;  // 0: it was refused, or empty
    std::size_t pending = 0;     // of them
    bool is_refused = false;
  };
  // Serves a batch, or refuses it, and appends the reply to `out`. A batch is of one view and one
  // version of the store. Throws ProtocolError for bytes that are no requests; nothing of the batch
  // was served then.
  Served serve(const RequestHeader& header, std::span<const std::byte> requests, Bytes& out);

  // Goes on with what is pending, and appends results, if there are any, as batches of their own.
  void go_on(Bytes& out);

  // The client has gone: goes on with what is pending, and tells nobody. True: nothing is any more.
  bool leave() { return session_.leave(); }

  std::size_t pending() const noexcept { return session_.pending(); }
  // The number of the last request.
  std::uint64_t served() const noexcept { return session_.serial(); }

 private:
  void require_requests(std::span<const std::byte> requests) const;
  BatchStatus status_of(const RequestHeader& header, Serving::Now now) const;
  bool owns_all(const RangeCheck::Batch& ranges, std::span<const std::byte> requests) const;
  // All requests of a batch; returns how many are pending.
  std::size_t serve_all(std::span<const std::byte> requests, Bytes& out);
  std::size_t serve_all_sized(std::span<const std::byte> requests, Bytes& out);
  Reply serve(const Request& request, hybridlog::Session::Place place);
  Reply serve_sized(const std::byte* request, hybridlog::Session::Place place);
  // Results of what was pending, behind the replies of the batch that begins at `begin`; writes its
  // header, and those of further ones.
  void finish_with_results(Bytes& out, std::size_t begin, ReplyHeader header);
  ReplyHeader header_of_results() const;
  Reply sized(Reply reply, hybridlog::Session::Answer answer) const;
  void finish(Bytes& out, std::size_t begin, ReplyHeader header);
  std::uint64_t committed();

  const Place place_;
  const hybridlog::SessionId id_;
  const Sizes sizes_;
  hybridlog::Session session_;
  std::uint64_t committed_ = 0, generation_ = 0;  // of the commits when they were last looked at
};

}  // namespace turntable::shadowfax
