#include "shadowfax/client/client_session.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "common/clock.h"
#include "net/handshake.h"
#include "shadowfax/client/server_socket.h"

namespace turntable::shadowfax {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;

std::int64_t now_ns() noexcept {
  return clock_ns(CLOCK_BOOTTIME);
}

// Of a request that was to change something, and has not.
bool is_failed_change(const Reply& reply) noexcept {
  return reply.opcode != Opcode::kRead && reply.status != ReplyStatus::kOk &&
         reply.status != ReplyStatus::kNotFound;
}

// Waits until something more has come.
void receive_some(int socket, std::vector<std::uint8_t>& in) {
  std::array<std::uint8_t, 512> bytes;
  const std::size_t count = receive_in_time(socket, std::as_writable_bytes(std::span(bytes)));
  in.insert(in.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
}

// Takes it off the front.
Welcome welcome_in(int socket, std::vector<std::uint8_t>& in) {
  while (in.size() < Welcome::kBytes) receive_some(socket, in);
  const Welcome welcome = read_welcome(std::as_bytes(std::span(in)).data());
  in.erase(in.begin(), in.begin() + Welcome::kBytes);
  return welcome;
}

void require_open(const Welcome& welcome, std::size_t value_bytes) {
  switch (welcome.status) {
    case WelcomeStatus::kOpen:
      if (welcome.committed > welcome.served)
        throw SessionError("the server calls committed what it does not have");
      return;
    case WelcomeStatus::kInUse:
      throw SessionError("another connection has this session; expected one at a time");
    case WelcomeStatus::kValueBytes:
      throw SessionError("the server has no values of " + std::to_string(value_bytes) +
                         " bytes; expected " + std::to_string(kFewestValueBytes) + " to " +
                         std::to_string(welcome.most_value_bytes));
    default:
      throw SessionError("the server speaks another format than " +
                         std::to_string(Opening::kFormat >> 32U) +
                         "; expected programs of one version");
  }
}

}  // namespace

ClientSession::ClientSession(const Settings& settings)
    : settings_(settings),
      sizes_(settings.value_bytes),
      socket_(connect_to(settings.address, settings.port)),
      in_(kReadBytes) {
  const Welcome welcome = open();
  filling_ = fresh_batch();  // once the server knows values of this length
  heard_ns_ = now_ns();
  begins_after_ = welcome.served;
  committed_ = welcome.committed;
  next_ = welcome.served + 1;
}

// Waits for the welcome; what has come behind it is in in_.
Welcome ClientSession::open() {
  std::array<std::byte, Opening::kBytes> opening;
  write(opening.data(), Opening{.session_high = settings_.id.high,
                                .session_low = settings_.id.low,
                                .value_bytes = static_cast<std::uint32_t>(settings_.value_bytes)});
  send_all(fd(), opening);
  std::vector<std::uint8_t> in;
  Welcome welcome = welcome_in(fd(), in);
  if (welcome.status == WelcomeStatus::kProve) {
    prove(in);
    welcome = welcome_in(fd(), in);
  } else if (settings_.credentials && welcome.status == WelcomeStatus::kOpen) {
    throw SessionError(
        "the server does not prove that it knows the secret; expected one that was begun with it "
        "(--secret FILE)");
  }
  require_open(welcome, settings_.value_bytes);
  std::memcpy(in_.data(), in.data(), in.size());
  in_end_ = in.size();
  view_ = welcome.view;
  return welcome;
}

// in: what has come already; what comes behind the server's proof stays there.
void ClientSession::prove(std::vector<std::uint8_t>& in) {
  if (!settings_.credentials) {
    throw SessionError(
        "the server asks for the secret of its run; expected --secret FILE, the same as the "
        "server's");
  }
  net::ConnectorHandshake handshake(settings_.credentials->secret(), settings_.credentials->next(),
                                    net::Purpose::kBatches);
  try {
    for (;;) {
      net::Handshake::Bytes out;
      handshake.receive(in, out);
      send_all(fd(), std::as_bytes(std::span(out)));
      if (handshake.is_done()) return;
      receive_some(fd(), in);
    }
  } catch (const net::HandshakeError& error) {
    throw SessionError(std::string("no session: ") + error.what());
  } catch (const SessionError& error) {
    throw SessionError(std::string("no session, perhaps since the server has another secret "
                                   "(--secret FILE); expected the same one: ") +
                       error.what());
  }
}

void ClientSession::reopen(std::uint16_t port, Replies& replies) {
  if (!keeps() || settings_.id.is_nobody())
    throw std::logic_error("a session that keeps nothing, or is nobody's, cannot be opened again");
  socket_ = connect_to(settings_.address, port);
  in_end_ = 0;
  out_.clear();
  sent_ = 0;
  const Welcome welcome = open();
  require_remembered(welcome);
  heard_ns_ = now_ns();
  pending_.clear();  // what was pending is behind `served`, or done
  std::vector<Batch> all;
  for (std::deque<Batch>* const some : {&kept_, &under_way_, &refused_})
    for (Batch& batch : std::exchange(*some, {})) all.push_back(std::move(batch));
  std::sort(all.begin(), all.end(),
            [](const Batch& one, const Batch& other) { return one.first < other.first; });
  for (Batch& batch : all) go_on_after(welcome.served, std::move(batch), replies);
  note_committed(welcome.committed);
  resume_ns_ = 0;
  go_on();
}

// Half of the time: the server's clock is another one.
void ClientSession::require_remembered(const Welcome& welcome) const {
  if (welcome.served < committed_) {
    throw LostSession("the server has requests up to " + std::to_string(welcome.served) +
                      "; expected " + std::to_string(committed_) + ", which it called committed");
  }
  if (welcome.served >= next_) {
    throw LostSession("the server has requests up to " + std::to_string(welcome.served) +
                      "; expected at most " + std::to_string(next_ - 1) +
                      ", which is the last that was sent: another client has this session's name");
  }
  const std::chrono::nanoseconds away(now_ns() - heard_ns_);
  if (welcome.served == 0 && next_ > 1 && away > settings_.remembered / 2) {
    throw LostSession(
        "the server has none of the session's requests, and may have had some: it "
        "remembers sessions for " +
        std::to_string(std::chrono::ceil<std::chrono::hours>(settings_.remembered).count()) +
        " hours; expected a client that is away for at most half of that");
  }
}

// Of the batch, the server has the requests up to `served`.
void ClientSession::go_on_after(std::uint64_t served, Batch batch, Replies& to) {
  const std::size_t had =
      served < batch.first ? 0
                           : std::min<std::size_t>(served + 1 - batch.first, batch.contexts.size());
  for (std::size_t i = 0; i < had; ++i) {
    if (batch.are_told[i]) continue;
    --outstanding_;
    batch.are_told[i] = true;
    to.recovered(opcode(batch, i), batch.contexts[i]);
  }
  if (had < batch.contexts.size()) {
    Batch rest = fresh_batch();
    rest.first = batch.first + had;
    rest.bytes.insert(rest.bytes.end(), request(batch, had), request(batch, batch.contexts.size()));
    rest.contexts.assign(batch.contexts.begin() + static_cast<std::ptrdiff_t>(had),
                         batch.contexts.end());
    rest.are_told.assign(batch.are_told.begin() + static_cast<std::ptrdiff_t>(had),
                         batch.are_told.end());
    refused_.push_back(std::move(rest));
  }
  if (had == 0) return;
  batch.contexts.resize(had);
  batch.are_told.resize(had);
  batch.bytes.resize(RequestHeader::kBytes + had * sizes_.request());
  kept_.push_back(std::move(batch));
}

ClientSession::Batch ClientSession::fresh_batch() {
  Batch batch;
  if (unused_.empty()) {
    batch.bytes.reserve(RequestHeader::kBytes + settings_.batch_requests * sizes_.request());
    batch.contexts.reserve(settings_.batch_requests);
    batch.are_told.reserve(settings_.batch_requests);
  } else {
    batch = std::move(unused_.back());
    unused_.pop_back();
    batch.contexts.clear();
    batch.are_told.clear();
  }
  batch.bytes.resize(RequestHeader::kBytes);
  return batch;
}

void ClientSession::add(const Request& request, std::span<const std::byte> rest,
                        std::uint64_t context) {
  append(request, rest, {.context = context, .is_told = false});
}

void ClientSession::append(const Request& request, std::span<const std::byte> rest, Pending about) {
  const std::size_t end = filling_.bytes.size();
  filling_.bytes.resize(end + sizes_.request());
  write(filling_.bytes.data() + end, request);
  if (!rest.empty())
    std::memcpy(filling_.bytes.data() + end + Request::kBytes, rest.data(), rest.size());
  filling_.contexts.push_back(about.context);
  filling_.are_told.push_back(about.is_told);
  if (!about.is_told) ++outstanding_;  // else nobody waits for it
  if (filling_.contexts.size() < settings_.batch_requests) return;
  end_filling();
  send_ready();
}

void ClientSession::add_again(const Unserved& request) {
  append(request.request, request.rest, {.context = request.context, .is_told = request.is_told});
}

std::vector<ClientSession::Unserved> ClientSession::take_back() {
  std::vector<Unserved> all;
  const auto take = [&](Batch& batch) {
    for (std::size_t i = 0; i < batch.contexts.size(); ++i) {
      const bool is_told = batch.are_told[i] != 0;
      if (!is_told) --outstanding_;
      const std::byte *const begin = request(batch, i), *const end = request(batch, i + 1);
      all.push_back(
          {read_request(begin), batch.contexts[i], is_told, {begin + Request::kBytes, end}});
    }
  };
  if (!refused_.empty()) {
    next_ = refused_.front().first;
  } else if (!ready_.empty()) {
    next_ = ready_.front().first;
  }
  for (std::deque<Batch>* const some : {&refused_, &ready_}) {
    for (Batch& batch : *some) {
      take(batch);
      unused_.push_back(std::move(batch));
    }
    some->clear();
  }
  take(filling_);
  filling_.contexts.clear();
  filling_.are_told.clear();
  filling_.bytes.resize(RequestHeader::kBytes);
  return all;
}

void ClientSession::flush() {
  flushes_ = true;
  send_ready();
}

void ClientSession::end_filling() {
  flushes_ = false;
  filling_.first = std::exchange(next_, next_ + filling_.contexts.size());
  ready_.push_back(std::exchange(filling_, fresh_batch()));
}

// A batch that is not full goes where it would go at once: until then it is filled further.
void ClientSession::send_ready() {
  while (may_send()) {
    if (ready_.empty() && flushes_ && !filling_.contexts.empty()) end_filling();
    if (ready_.empty()) return;
    Batch batch = std::move(ready_.front());
    ready_.pop_front();
    send(std::move(batch));
  }
}

void ClientSession::send(Batch batch) {
  under_way_.push_back(std::move(batch));  // first: if the server has gone it is known all the same
  Batch& sent = under_way_.back();
  const std::size_t bytes = sent.bytes.size() - RequestHeader::kBytes;
  write(sent.bytes.data(), RequestHeader{.view = view_, .first = sent.first, .bytes = bytes});
  sent.sent_ns = monotonic_ns();
  const std::size_t taken = is_blocked() ? 0 : send_now(fd(), sent.bytes);
  out_.insert(out_.end(), sent.bytes.begin() + static_cast<std::ptrdiff_t>(taken),
              sent.bytes.end());
}

void ClientSession::push() {
  sent_ += send_now(fd(), std::span(out_).subspan(sent_));
  if (is_blocked()) return;
  out_.clear();
  sent_ = 0;
}

void ClientSession::go_on() {
  push();
  if (pause_ends_ns() != INT64_MAX && monotonic_ns() < resume_ns_) return;
  if (is_held_) return;
  if (refused_.empty() && asks_what_is_committed()) {
    Batch nothing = fresh_batch();
    nothing.first = ready_.empty() ? next_ : ready_.front().first;  // the next to be sent
    send(std::move(nothing));
    return;
  }
  while (!refused_.empty() && under_way_.size() < settings_.pipeline) {
    Batch again = std::move(refused_.front());
    refused_.pop_front();
    send(std::move(again));
  }
  send_ready();
}

bool ClientSession::receive(Replies& replies) {
  const std::size_t bytes = receive_now(fd(), std::span(in_).subspan(in_end_));
  in_end_ += bytes;
  if (bytes > 0 && keeps()) heard_ns_ = now_ns();
  std::size_t at = 0;
  while (in_end_ - at >= ReplyHeader::kBytes) {
    const ReplyHeader header = read_reply_header(in_.data() + at);
    const std::size_t whole = ReplyHeader::kBytes + header.bytes;
    if (header.bytes > kMostReplyBytes) throw SessionError("a reply of the server is too long");
    if (in_end_ - at < whole) {
      if (in_.size() < whole) in_.resize(2 * whole);
      break;
    }
    take(header, in_.data() + at + ReplyHeader::kBytes, replies);
    at += whole;
    go_on();
  }
  if (at > 0) {
    std::memmove(in_.data(), in_.data() + at, in_end_ - at);
    in_end_ -= at;
  }
  go_on();
  return bytes > 0;
}

void ClientSession::take(const ReplyHeader& header, const std::byte* replies, Replies& to) {
  if (header.committed >= next_) throw SessionError("the server calls committed what was not sent");
  note_committed(header.committed);
  if (header.status == BatchStatus::kResults) {
    take_results(replies, replies + header.bytes, to);
    return;
  }
  if (under_way_.empty()) throw SessionError("the server answers what was not asked");
  Batch batch = std::move(under_way_.front());
  under_way_.pop_front();
  if (header.status != BatchStatus::kServed) {
    refuse(std::move(batch));
    take_results(replies, replies + header.bytes, to);
    resume_ns_ = monotonic_ns() + settings_.pause_ns;
    header.status == BatchStatus::kViewChanged ? to.view_differs() : to.batch_refused();
  } else {
    take_served(std::move(batch), header, replies, to);
  }
}

// A question for what is committed is nothing that anybody waits for.
bool ClientSession::is_idle() const noexcept {
  return outstanding_ == 0 && pending_.empty() && refused_.empty() && ready_.empty() &&
         filling_.contexts.empty() &&
         std::ranges::all_of(under_way_, [](const Batch& batch) { return batch.contexts.empty(); });
}

std::uint64_t ClientSession::unreplayed(bool is_gone) const noexcept {
  std::uint64_t all = acknowledged_changes(filling_);
  for (const std::deque<Batch>* const some : {&ready_, &under_way_, &refused_})
    for (const Batch& batch : *some) all += acknowledged_changes(batch);
  if (is_gone) {
    for (const Batch& batch : kept_) all += acknowledged_changes(batch);
    return all;
  }
  for (const auto& [number, about] : pending_) {
    const Batch* const batch = about.is_told ? kept_with(number) : nullptr;
    if (batch != nullptr && opcode(*batch, number - batch->first) != Opcode::kRead) ++all;
  }
  return all;
}

// That are not committed.
std::uint64_t ClientSession::acknowledged_changes(const Batch& batch) const noexcept {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < batch.contexts.size(); ++i) {
    const bool is_numbered = &batch != &filling_;
    if (is_numbered && batch.first + i <= committed_) continue;
    if (batch.are_told[i] && opcode(batch, i) != Opcode::kRead) ++count;
  }
  return count;
}

// In the order of their requests: one that was sent again may be refused behind a later one. One
// without requests is not sent again: what has its number by then may be served before, and the
// session would go on from there as if it were not.
void ClientSession::refuse(Batch batch) {
  if (batch.contexts.empty()) {
    unused_.push_back(std::move(batch));
    return;
  }
  const auto behind =
      std::upper_bound(refused_.begin(), refused_.end(), batch.first,
                       [](std::uint64_t first, const Batch& other) { return first < other.first; });
  refused_.insert(behind, std::move(batch));
}

void ClientSession::take_served(Batch batch, const ReplyHeader& header, const std::byte* replies,
                                Replies& to) {
  const std::byte *at = replies, *const end = replies + header.bytes;
  try {
    at = take_replies(batch, at, end, to);
  } catch (const SessionError&) {
    under_way_.push_front(std::move(batch));  // for the next server, with what was told of it
    throw;
  }
  const bool is_empty = batch.contexts.empty();
  const std::int64_t round_trip_ns = monotonic_ns() - batch.sent_ns;
  keep(std::move(batch));
  take_results(at, end, to);
  if (is_empty) {
    resume_ns_ = monotonic_ns() + settings_.pause_ns;
  } else {
    to.batch_done(round_trip_ns);
  }
}

// Returns where they end.
const std::byte* ClientSession::take_replies(Batch& batch, const std::byte* at,
                                             const std::byte* end, Replies& to) {
  for (std::size_t i = 0; i < batch.contexts.size(); ++i) {
    const std::optional<Reply> reply = next_reply(at, end, sizes_);
    if (!reply) throw SessionError("the server leaves requests of a batch without a reply");
    at += sizes_.reply(reply->opcode);
    const Pending about{.context = batch.contexts[i], .is_told = batch.are_told[i] != 0};
    if (reply->status == ReplyStatus::kPending) {
      if (reply->number != batch.first + i)
        throw SessionError("the server gives a request another number than it has");
      pending_.emplace(reply->number, about);
      if (!about.is_told) to.pending();
    } else {
      note_told(*reply, batch, i);
      tell(*reply, about, to);
    }
  }
  return at;
}

// Once, unless it was done before and is lost by now.
void ClientSession::tell(const Reply& reply, Pending about, Replies& to) {
  if (!about.is_told) {
    --outstanding_;
    to.done(reply, about.context);
  } else if (is_failed_change(reply)) {
    to.lost_acknowledged(reply);
  }
}

// What has failed must not be done later, when it is sent again.
void ClientSession::note_told(const Reply& reply, Batch& batch, std::size_t index) const noexcept {
  batch.are_told[index] = true;
  if (is_failed_change(reply)) wire::write(request(batch, index), Opcode::kRead);
}

void ClientSession::keep(Batch batch) {
  if (keeps() && batch.end() > committed_ + 1) {
    kept_.push_back(std::move(batch));
  } else {
    unused_.push_back(std::move(batch));
  }
}

void ClientSession::note_committed(std::uint64_t number) {
  committed_ = std::max(committed_, number);
  while (!kept_.empty() && kept_.front().end() <= committed_ + 1) {
    unused_.push_back(std::move(kept_.front()));
    kept_.pop_front();
  }
}

// What was pending.
void ClientSession::take_results(const std::byte* at, const std::byte* end, Replies& to) {
  while (at < end) {
    const std::optional<Reply> reply = next_reply(at, end, sizes_);
    const auto found = reply ? pending_.find(reply->number) : pending_.end();
    if (found == pending_.end()) throw SessionError("a reply of the server means nothing");
    at += sizes_.reply(reply->opcode);
    const Pending about = found->second;
    pending_.erase(found);
    if (auto* const batch = const_cast<Batch*>(kept_with(reply->number)))
      note_told(*reply, *batch, reply->number - batch->first);
    tell(*reply, about, to);
  }
}

// Null: the request is committed, or nothing is kept.
const ClientSession::Batch* ClientSession::kept_with(std::uint64_t number) const noexcept {
  const auto behind = std::upper_bound(
      kept_.begin(), kept_.end(), number,
      [](std::uint64_t wanted, const Batch& batch) { return wanted < batch.first; });
  if (behind == kept_.begin()) return nullptr;
  const Batch& batch = *std::prev(behind);
  return number < batch.end() ? &batch : nullptr;
}

}  // namespace turntable::shadowfax
