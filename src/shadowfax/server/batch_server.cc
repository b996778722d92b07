#include "shadowfax/server/batch_server.h"

#include <optional>
#include <string>

#include "hybridlog/batch.h"

namespace turntable::shadowfax {
namespace {

using hybridlog::Session;
using hybridlog::Status;

// Of a pending operation's context: the opcode above the request's number.
constexpr unsigned kNumberBits = 56;
constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;

std::uint64_t context_of(Opcode opcode, std::uint64_t number) noexcept {
  return static_cast<std::uint64_t>(opcode) << kNumberBits | number;
}

ReplyStatus reply_status(Status status) noexcept {
  switch (status) {
    case Status::kOk:
      return ReplyStatus::kOk;
    case Status::kNotFound:
      return ReplyStatus::kNotFound;
    case Status::kPending:
      return ReplyStatus::kPending;
    case Status::kNoSpace:
      return ReplyStatus::kNoSpace;
    case Status::kIoError:
      return ReplyStatus::kIoError;
    case Status::kWrongSize:
      return ReplyStatus::kWrongSize;
  }
  return ReplyStatus::kIoError;
}

// Results go into further batches where there are more of them.
constexpr std::size_t kBatchIsLong = kMostReplyBytes / 2;

std::uint64_t key_of(const std::byte* request) noexcept {
  return wire::read<std::uint64_t>(request + 1);
}

}  // namespace

BatchServer::BatchServer(const Place& place, hybridlog::SessionId id, std::size_t value_bytes)
    : place_(place),
      id_(id),
      sizes_(value_bytes),
      session_(place.store, place.thread, id, place.wake) {}

BatchServer::Served BatchServer::serve(const RequestHeader& header,
                                       std::span<const std::byte> requests, Bytes& out) {
  require_requests(requests);
  // First: a session that has crossed to the next version in an ownership cut waits from then on,
  // and one that does not wait now does not cross before the batch is served.
  const Session::Batch batch(session_);
  const Serving::Now now = place_.serving.now();
  Served served_now;
  const std::size_t begin = out.size();
  out.resize(begin + ReplyHeader::kBytes);
  ReplyHeader reply{
      .status = status_of(header, now), .view = now.view, .reissue_from = served() + 1};
  std::optional<RangeCheck::Batch> ranges;
  if (place_.ranges != nullptr && reply.status == BatchStatus::kServed) {
    ranges.emplace(*place_.ranges);
    if (!owns_all(*ranges, requests)) reply.status = BatchStatus::kViewChanged;
  }
  if (reply.status == BatchStatus::kServed) {
    served_now.operations = requests.size() / sizes_.request();
    served_now.pending =
        sizes_.is_sized() ? serve_all_sized(requests, out) : serve_all(requests, out);
    reply.reissue_from = served() + 1;
  }
  served_now.is_refused = reply.status != BatchStatus::kServed;
  finish_with_results(out, begin, reply);
  return served_now;
}

std::size_t BatchServer::serve_all(std::span<const std::byte> requests, Bytes& out) {
  const std::size_t count = requests.size() / Request::kBytes, begin = out.size();
  std::size_t pending = 0;
  out.resize(begin + count * Reply::kReadBytes);  // at most
  std::byte* at = out.data() + begin;
  hybridlog::for_each_of_batch(
      session_, count, [&](std::size_t i) { return key_of(requests.data() + i * Request::kBytes); },
      [&](std::size_t i, Session::Place place) {
        const Reply answer = serve(read_request(requests.data() + i * Request::kBytes), place);
        pending += answer.status == ReplyStatus::kPending ? 1 : 0;
        at = write(at, answer);
      });
  out.resize(static_cast<std::size_t>(at - out.data()));
  return pending;
}

std::size_t BatchServer::serve_all_sized(std::span<const std::byte> requests, Bytes& out) {
  const std::size_t bytes = sizes_.request(), count = requests.size() / bytes, begin = out.size();
  std::size_t pending = 0;
  out.resize(begin + count * sizes_.longest_reply());
  std::byte* at = out.data() + begin;
  hybridlog::for_each_of_batch(
      session_, count, [&](std::size_t i) { return key_of(requests.data() + i * bytes); },
      [&](std::size_t i, Session::Place place) {
        const Reply answer = serve_sized(requests.data() + i * bytes, place);
        pending += answer.status == ReplyStatus::kPending ? 1 : 0;
        at = write_sized(at, answer, sizes_);
      });
  out.resize(static_cast<std::size_t>(at - out.data()));
  return pending;
}

BatchStatus BatchServer::status_of(const RequestHeader& header, Serving::Now now) const {
  if (now.waits) return BatchStatus::kBusy;
  if (header.view != now.view) {
    if (header.view > now.view) place_.serving.newer_seen();
    return BatchStatus::kViewChanged;
  }
  const bool is_next = header.first == served() + 1;
  return is_next && session_.pending() <= place_.most_pending ? BatchStatus::kServed
                                                              : BatchStatus::kBusy;
}

bool BatchServer::owns_all(const RangeCheck::Batch& ranges,
                           std::span<const std::byte> requests) const {
  if (!ranges.looks_keys_up()) return true;
  const std::size_t bytes = sizes_.request();
  for (std::size_t at = 0; at < requests.size(); at += bytes)
    if (!ranges.owns(hybridlog::hash_of(key_of(requests.data() + at)))) return false;
  return true;
}

void BatchServer::go_on(Bytes& out) {
  const std::size_t begin = out.size();
  out.resize(begin + ReplyHeader::kBytes);
  finish_with_results(out, begin, header_of_results());
  if (out.size() == begin + ReplyHeader::kBytes) out.resize(begin);
}

// Before any of them is served: a batch is served whole or not at all.
void BatchServer::require_requests(std::span<const std::byte> requests) const {
  const std::size_t bytes = sizes_.request();
  if (requests.size() % bytes != 0) {
    throw ProtocolError("a batch of " + std::to_string(requests.size()) +
                        " bytes; expected a multiple of " + std::to_string(bytes));
  }
  for (std::size_t at = 0; at < requests.size(); at += bytes) {
    const auto opcode = wire::read<Opcode>(requests.data() + at);
    if (!is_opcode(opcode)) {
      throw ProtocolError("request " + std::to_string(at / bytes) + " of a batch: opcode " +
                          std::to_string(static_cast<int>(opcode)) + "; expected 1 to 4");
    }
  }
}

Reply BatchServer::serve(const Request& request, Session::Place place) {
  const std::uint64_t number = served() + 1;
  const std::uint64_t context = context_of(request.opcode, number);
  Session::Answer answer{};
  switch (request.opcode) {
    case Opcode::kRead:
      answer = session_.read(request.key, context, place);
      break;
    case Opcode::kUpsert:
      answer.status = session_.upsert(request.key, request.value, place);
      break;
    case Opcode::kAdd:
      answer.status = session_.add(request.key, request.value, context, place);
      break;
    case Opcode::kErase:
      answer.status = session_.erase(request.key);
      break;
  }
  return {.opcode = request.opcode,
          .status = reply_status(answer.status),
          .number = number,
          .value = answer.value};
}

Reply BatchServer::serve_sized(const std::byte* request, Session::Place place) {
  const auto [opcode, key, first] = read_request(request);
  const std::uint64_t number = served() + 1;
  const std::uint64_t context = context_of(opcode, number);
  const std::span value(request + Request::kValueAt, sizes_.value_bytes());
  Session::Answer answer{};
  switch (opcode) {
    case Opcode::kRead:
      answer = session_.read_value(key, context, place);
      break;
    case Opcode::kUpsert:
      answer.status = session_.upsert_value(key, value, place);
      break;
    case Opcode::kAdd:
      answer.status = session_.add_to_value(key, value, context, place);
      break;
    case Opcode::kErase:
      answer.status = session_.erase(key);
      break;
  }
  return sized({.opcode = opcode,
                .status = reply_status(answer.status),
                .number = number,
                .value = answer.value},
               answer);
}

// Of a read, with the value that the session has read just now.
Reply BatchServer::sized(Reply reply, Session::Answer answer) const {
  if (reply.opcode != Opcode::kRead || answer.status != Status::kOk) return reply;
  reply.length = static_cast<std::uint32_t>(session_.value().size());
  if (reply.length <= sizes_.value_bytes()) {
    reply.bytes = session_.value().bytes();
  } else {
    reply.status = ReplyStatus::kWrongSize;
  }
  return reply;
}

ReplyHeader BatchServer::header_of_results() const {
  return {.status = BatchStatus::kResults,
          .view = place_.serving.now().view,
          .reissue_from = served() + 1};
}

void BatchServer::finish_with_results(Bytes& out, std::size_t begin, ReplyHeader header) {
  session_.complete_pending([&](std::uint64_t context, Session::Answer answer) {
    if (out.size() - begin > kBatchIsLong) {
      finish(out, begin, header);
      begin = out.size();
      header = header_of_results();
      out.resize(begin + ReplyHeader::kBytes);
    }
    const Reply reply{.opcode = static_cast<Opcode>(context >> kNumberBits),
                      .status = reply_status(answer.status),
                      .number = context & kNumberMask,
                      .value = answer.value};
    const std::size_t end = out.size();
    out.resize(end + sizes_.reply(reply.opcode));
    if (sizes_.is_sized()) {
      write_sized(out.data() + end, sized(reply, answer), sizes_);
    } else {
      write(out.data() + end, reply);
    }
  });
  finish(out, begin, header);
}

// Writes the header of the replies behind `begin`.
void BatchServer::finish(Bytes& out, std::size_t begin, ReplyHeader header) {
  header.committed = committed();
  header.bytes = out.size() - begin - ReplyHeader::kBytes;
  write(out.data() + begin, header);
}

std::uint64_t BatchServer::committed() {
  const std::uint64_t generation = place_.commits.generation();
  if (generation != generation_) {
    generation_ = generation;
    committed_ = place_.commits.of(id_);
  }
  return committed_;
}

}  // namespace turntable::shadowfax
