// A client's session with one worker of a server: requests are gathered into batches, of which a
// few are under way at once; replies come back in the order of the requests, and the results of
// those that are pending at any time later.
//
//   add() -> [filling] --full, or flush()--> [under way, at most `pipeline`] --reply--> done()
//                                              |        ^
//                                              +-refused+  after a pause
//
// While as many batches are under way as may be, as many others are filled, so that a pipeline is
// full again as soon as a reply has come.
//
// A session that keeps batches until they are committed outlives its server: reopen() learns what a
// server that was begun again has, tells what of the rest was answered by nobody, and sends all
// that is behind again. Nothing is done twice, and nothing that was acknowledged is lost, or it is
// told (Replies::lost_acknowledged). A request that was told to have failed goes again as a read of
// its key: its number is needed, and nothing is changed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/unique_fd.h"
#include "hybridlog/session_id.h"
#include "net/credentials.h"
#include "shadowfax/client/sessions.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

class ClientSession {
 public:
  struct Settings {
    std::string address = "127.0.0.1";  // IPv4
    std::uint16_t port = 0;
    std::size_t batch_requests = 1'926;  // 32 KiB with the header
    std::size_t pipeline = 2;            // batches under way
    std::int64_t pause_ns = 100'000;     // before a batch that was refused is sent again
    // Batches that are kept until they are committed; where so many are, no more are sent. 0: none
    // is kept, for servers that make no checkpoints.
    std::size_t most_kept = 0;
    hybridlog::SessionId id = {};  // nobody's: it is not remembered
    // Of servers, which remember a session for so long.
    std::chrono::nanoseconds remembered = hybridlog::kRemembered;
    std::size_t value_bytes = kFewestValueBytes;  // of all that it sends, and most that it reads
    // Of the secret that it and the server prove to each other; nothing: neither does.
    std::optional<net::Credentials> credentials{};
  };
  class Replies : public Sessions::Replies {
   public:
    // The server has another view than the session. Where this returns, what was refused is sent
    // again after a pause, with the session's view of then.
    virtual void view_differs() {
      throw SessionError("the server has another view of who owns which keys");
    }
  };
  // A request that the server has not served.
  struct Unserved {
    Request request;
    std::uint64_t context;
    bool is_told;                      // answered once, by a server that was killed since
    std::vector<std::byte> rest = {};  // of its value
  };

  // Connects; throws SessionError, also where the server has no values of so many bytes, has
  // another secret, or does not answer in time.
  explicit ClientSession(const Settings& settings);

  // What the server said when the session was opened: the number of the last request that it has.
  // The next one is that one's successor.
  std::uint64_t begins_after() const noexcept { return begins_after_; }
  // Of the last request that a checkpoint of the server covers, as far as is known.
  std::uint64_t committed() const noexcept { return committed_; }

  // After a SessionError, to the server's new port. Throws SessionError: try again; LostSession:
  // committed requests were lost, or the session may be forgotten.
  void reopen(std::uint16_t port, Replies& replies);

  // Of the batches that are sent from now on; at first the one that the server said.
  std::uint64_t view() const noexcept { return view_; }
  void set_view(std::uint64_t view) noexcept { view_ = view; }
  // No batches are sent while it is held.
  void hold(bool is_held) noexcept { is_held_ = is_held; }
  // Takes back all requests that were not served, in their order. No batch may be under way.
  std::vector<Unserved> take_back();

  int fd() const noexcept { return socket_.get(); }
  // The kernel takes no more for the moment: wait for the socket to be writable, too.
  bool is_blocked() const noexcept { return sent_ < out_.size(); }

  // For how many requests there is room: in as many batches as may be under way.
  std::size_t room() const noexcept {
    const std::size_t batches = settings_.pipeline - std::min(settings_.pipeline, ready_.size());
    return batches * settings_.batch_requests -
           std::min(batches * settings_.batch_requests, filling_.contexts.size());
  }
  bool has_room() const noexcept { return room() > 0; }
  // Sends the batch once it is full. Where there is no room, it waits. Throws SessionError.
  void add(const Request& request, std::uint64_t context = 0) { add(request, {}, context); }
  // rest: of its value, behind the first 8 bytes; zeros where there is less of it.
  void add(const Request& request, std::span<const std::byte> rest, std::uint64_t context);
  void add_again(const Unserved& request);
  // What there is of a batch goes as soon as fewer than `pipeline` are under way.
  void flush();

  // Reads what has come, and sends what may go now. True: something has come. Throws SessionError.
  bool receive(Replies& replies);
  // Sends what may go at this instant: after a pause, or because the kernel has room again.
  void go_on();
  // When the pause ends in which nothing is sent; INT64_MAX: there is none.
  std::int64_t pause_ends_ns() const noexcept {
    return refused_.empty() && !asks_what_is_committed() ? INT64_MAX : resume_ns_;
  }

  bool awaits_replies() const noexcept { return !under_way_.empty(); }
  std::size_t batches_under_way() const noexcept { return under_way_.size() + refused_.size(); }
  std::size_t pending() const noexcept { return pending_.size(); }
  // Requests that were added and are not done. What is sent again was done before: see is_idle().
  std::size_t outstanding() const noexcept { return outstanding_; }
  // Nothing is asked of the server: no request is to be sent, or to be answered, for the first time
  // or again. As far as receive() has heard, which throws once the server has gone.
  bool is_idle() const noexcept;
  // Changes that were acknowledged, and that the server lacks as far as is known: they are to be
  // sent again, or their second reply has not come. is_gone: of a server that does not come back,
  // so that all that is not committed is lost.
  std::uint64_t unreplayed(bool is_gone) const noexcept;

 private:
  struct Batch {
    std::vector<std::byte> bytes;         // with room for the header
    std::vector<std::uint64_t> contexts;  // of its requests
    std::vector<std::uint8_t> are_told;   // of its requests: whether done() was called
    std::uint64_t first = 0;              // number of its first request
    std::int64_t sent_ns = 0;

    std::uint64_t end() const noexcept { return first + contexts.size(); }
  };
  struct Pending {
    std::uint64_t context;
    bool is_told;
  };
  std::byte* request(Batch& batch, std::size_t index) const noexcept {
    return batch.bytes.data() + RequestHeader::kBytes + index * sizes_.request();
  }
  Opcode opcode(const Batch& batch, std::size_t index) const noexcept {
    return wire::read<Opcode>(batch.bytes.data() + RequestHeader::kBytes +
                              index * sizes_.request());
  }

  Welcome open();
  void prove(std::vector<std::uint8_t>& in);
  void require_remembered(const Welcome& welcome) const;
  bool keeps() const noexcept { return settings_.most_kept > 0; }
  bool may_keep_more() const noexcept {
    return !keeps() || kept_.size() + under_way_.size() < settings_.most_kept;
  }
  // Nothing comes from the server any more that would say it.
  bool asks_what_is_committed() const noexcept { return !may_keep_more() && under_way_.empty(); }
  bool may_send() const noexcept {
    return !is_held_ && refused_.empty() && under_way_.size() < settings_.pipeline &&
           may_keep_more();
  }
  Batch fresh_batch();
  void append(const Request& request, std::span<const std::byte> rest, Pending about);
  std::uint64_t acknowledged_changes(const Batch& batch) const noexcept;
  void end_filling();
  void send_ready();
  void send(Batch batch);
  void push();
  void take(const ReplyHeader& header, const std::byte* replies, Replies& to);
  void refuse(Batch batch);
  void keep(Batch batch);
  void note_committed(std::uint64_t number);
  void tell(const Reply& reply, Pending about, Replies& to);
  void note_told(const Reply& reply, Batch& batch, std::size_t index) const noexcept;
  const Batch* kept_with(std::uint64_t number) const noexcept;
  void go_on_after(std::uint64_t served, Batch batch, Replies& to);
  void take_served(Batch batch, const ReplyHeader& header, const std::byte* replies, Replies& to);
  const std::byte* take_replies(Batch& batch, const std::byte* at, const std::byte* end,
                                Replies& to);
  void take_results(const std::byte* at, const std::byte* end, Replies& to);

  const Settings settings_;
  const Sizes sizes_;
  UniqueFd socket_;
  std::uint64_t view_ = 1;
  bool is_held_ = false;
  std::uint64_t begins_after_ = 0, committed_ = 0;
  std::int64_t heard_ns_ = 0;  // of the server; also while this machine sleeps time goes on
  std::uint64_t next_ = 1;     // number of the next batch's first request
  std::vector<Batch> unused_;  // their memory is used again
  Batch filling_;
  std::deque<Batch> ready_;  // full, and to be sent; their requests are numbered
  bool flushes_ = false;     // the batch that is being filled goes although it is not full
  std::deque<Batch> under_way_;
  std::deque<Batch> refused_;  // to be sent again, before all others
  std::deque<Batch> kept_;     // were served, and are not committed; in their order
  std::int64_t resume_ns_ = 0;
  std::size_t outstanding_ = 0;
  std::unordered_map<std::uint64_t, Pending> pending_;  // by their numbers
  std::vector<std::byte> out_;
  std::size_t sent_ = 0;  // of out_
  std::vector<std::byte> in_;
  std::size_t in_end_ = 0;
};

}  // namespace turntable::shadowfax
