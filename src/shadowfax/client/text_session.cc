#include "shadowfax/client/text_session.h"

#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "common/clock.h"
#include "shadowfax/client/server_socket.h"

namespace turntable::shadowfax {
namespace {

// More than the longest answer: one that is not whole has room.
constexpr std::size_t kReadBytes = std::size_t{256} << 10U;
static_assert(kReadBytes > 2 * (TextProtocol::kMostLineBytes + TextProtocol::kMostValueBytes));

}  // namespace

TextSession::TextSession(const TextProtocol& protocol, const Batching& batching,
                         const std::string& address, std::uint16_t port)
    : protocol_(protocol),
      batching_(batching),
      socket_(connect_to(address, port)),
      in_(kReadBytes) {}

TextSession::Batch TextSession::fresh_batch() {
  if (unused_.empty()) return {};
  Batch batch = std::move(unused_.back());
  unused_.pop_back();
  batch.text.clear();
  batch.asked.clear();
  batch.answered = 0;
  return batch;
}

void TextSession::add(const Request& request, std::uint64_t context) {
  protocol_.write(request, filling_.text);
  filling_.asked.push_back({request.opcode, context});
  ++outstanding_;
  if (filling_.asked.size() < batching_.batch_requests) return;
  end_filling();
  send_ready();
}

void TextSession::flush() {
  flushes_ = true;
  send_ready();
}

void TextSession::end_filling() {
  flushes_ = false;
  ready_.push_back(std::exchange(filling_, fresh_batch()));
}

// A batch that is not full goes where it would go at once: until then it is filled further.
void TextSession::send_ready() {
  while (under_way_.size() < batching_.pipeline) {
    if (ready_.empty() && flushes_ && !filling_.asked.empty()) end_filling();
    if (ready_.empty()) return;
    Batch batch = std::move(ready_.front());
    ready_.pop_front();
    send(std::move(batch));
  }
}

void TextSession::send(Batch batch) {
  under_way_.push_back(std::move(batch));
  Batch& sent = under_way_.back();
  sent.sent_ns = monotonic_ns();
  const std::size_t taken = is_blocked() ? 0 : send_now(fd(), std::as_bytes(std::span(sent.text)));
  out_.append(sent.text, taken);
}

void TextSession::push() {
  sent_ += send_now(fd(), std::as_bytes(std::span(out_).subspan(sent_)));
  if (is_blocked()) return;
  out_.clear();
  sent_ = 0;
}

void TextSession::go_on() {
  push();
  send_ready();
}

void TextSession::receive(Sessions::Replies& replies) {
  in_end_ += receive_now(fd(), std::as_writable_bytes(std::span(in_).subspan(in_end_)));
  std::size_t at = 0;
  while (at < in_end_ && take({in_.data() + at, in_end_ - at}, at, replies)) continue;
  std::memmove(in_.data(), in_.data() + at, in_end_ - at);
  in_end_ -= at;
  go_on();
}

bool TextSession::take(std::string_view text, std::size_t& taken, Sessions::Replies& to) {
  if (under_way_.empty())
    throw SessionError(std::string(protocol_.name()) + " answers what was not asked");
  Batch& batch = under_way_.front();
  const Asked asked = batch.asked[batch.answered];
  const auto answer = protocol_.read(asked.opcode, text);
  if (!answer) return false;
  taken += answer->bytes;
  --outstanding_;
  if (!answer->refusal.empty()) to.refused(answer->refusal);
  to.done({.opcode = asked.opcode, .status = answer->status, .number = 0, .value = answer->value},
          asked.context);
  if (++batch.answered < batch.asked.size()) return true;
  const std::int64_t round_trip_ns = monotonic_ns() - batch.sent_ns;
  unused_.push_back(std::move(batch));
  under_way_.pop_front();
  to.batch_done(round_trip_ns);
  send_ready();
  return true;
}

}  // namespace turntable::shadowfax
