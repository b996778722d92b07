#include "shadowfax/server/batch_server.h"

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
  }
  return ReplyStatus::kIoError;
}

std::uint64_t key_at(std::span<const std::byte> requests, std::size_t index) noexcept {
  return wire::read<std::uint64_t>(requests.data() + index * Request::kBytes + 1);
}

}  // namespace

BatchServer::BatchServer(const Place& place, hybridlog::SessionId id)
    : place_(place), id_(id), session_(place.store, place.thread, id, place.wake) {}

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
  if (reply.status == BatchStatus::kServed) {
    const std::size_t count = requests.size() / Request::kBytes;
    out.resize(out.size() + count * Reply::kReadBytes);  // at most
    std::byte* at = out.data() + begin + ReplyHeader::kBytes;
    hybridlog::for_each_of_batch(
        session_, count, [&](std::size_t i) { return key_at(requests, i); },
        [&](std::size_t i, Session::Place place) {
          const Reply answer = serve(read_request(requests.data() + i * Request::kBytes), place);
          served_now.pending += answer.status == ReplyStatus::kPending ? 1 : 0;
          at = write(at, answer);
        });
    served_now.operations = count;
    out.resize(static_cast<std::size_t>(at - out.data()));
    reply.reissue_from = served() + 1;
  }
  served_now.is_refused = reply.status != BatchStatus::kServed;
  append_results(out);
  finish(out, begin, reply);
  return served_now;
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

void BatchServer::go_on(Bytes& out) {
  const std::size_t begin = out.size();
  out.resize(begin + ReplyHeader::kBytes);
  append_results(out);
  if (out.size() == begin + ReplyHeader::kBytes) {
    out.resize(begin);
  } else {
    finish(out, begin,
           {.status = BatchStatus::kResults,
            .view = place_.serving.now().view,
            .reissue_from = served() + 1});
  }
}

// Before any of them is served: a batch is served whole or not at all.
void BatchServer::require_requests(std::span<const std::byte> requests) const {
  if (requests.size() % Request::kBytes != 0) {
    throw ProtocolError("a batch of " + std::to_string(requests.size()) +
                        " bytes; expected a multiple of " + std::to_string(Request::kBytes));
  }
  for (std::size_t at = 0; at < requests.size(); at += Request::kBytes) {
    const auto opcode = wire::read<Opcode>(requests.data() + at);
    if (!is_opcode(opcode)) {
      throw ProtocolError("request " + std::to_string(at / Request::kBytes) +
                          " of a batch: opcode " + std::to_string(static_cast<int>(opcode)) +
                          "; expected 1 to 4");
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

void BatchServer::append_results(Bytes& out) {
  session_.complete_pending([&](std::uint64_t context, Session::Answer answer) {
    const Reply reply{.opcode = static_cast<Opcode>(context >> kNumberBits),
                      .status = reply_status(answer.status),
                      .number = context & kNumberMask,
                      .value = answer.value};
    out.resize(out.size() + Reply::bytes_of(reply.opcode));
    write(out.data() + out.size() - Reply::bytes_of(reply.opcode), reply);
  });
}

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
