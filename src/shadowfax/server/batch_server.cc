#include "shadowfax/server/batch_server.h"

#include <string>

namespace turntable::shadowfax {
namespace {

using hybridlog::Session;
using hybridlog::Status;

// Operations ahead of the one that is served: a miss of the cache takes as long as some of them.
constexpr std::size_t kBucketAhead = 24, kRecordAhead = 12;
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

BatchServer::BatchServer(hybridlog::Store& store, hybridlog::Epoch::Thread& thread,
                         std::size_t most_pending)
    : session_(store, thread), most_pending_(most_pending) {}

void BatchServer::serve(const RequestHeader& header, std::span<const std::byte> requests,
                        std::uint64_t view, Bytes& out) {
  require_requests(requests);
  const std::size_t begin = out.size();
  out.resize(begin + ReplyHeader::kBytes);
  ReplyHeader reply{.view = view, .reissue_from = served() + 1};
  if (header.view != view) {
    reply.status = BatchStatus::kViewChanged;
  } else if (session_.pending() > most_pending_) {
    reply.status = BatchStatus::kBusy;
  } else {
    const std::size_t count = requests.size() / Request::kBytes;
    out.resize(out.size() + count * Reply::kReadBytes);  // at most
    std::byte* at = out.data() + begin + ReplyHeader::kBytes;
    for (std::size_t i = 0; i < count; ++i) {
      if (i + kBucketAhead < count) session_.prefetch_bucket(key_at(requests, i + kBucketAhead));
      if (i + kRecordAhead < count) session_.prefetch_record(key_at(requests, i + kRecordAhead));
      at = write(at, serve(read_request(requests.data() + i * Request::kBytes)));
    }
    out.resize(static_cast<std::size_t>(at - out.data()));
    reply.reissue_from = served() + 1;
  }
  append_results(out);
  finish(out, begin, reply);
}

void BatchServer::go_on(std::uint64_t view, Bytes& out) {
  const std::size_t begin = out.size();
  out.resize(begin + ReplyHeader::kBytes);
  append_results(out);
  if (out.size() == begin + ReplyHeader::kBytes) {
    out.resize(begin);
  } else {
    finish(out, begin,
           {.status = BatchStatus::kResults, .view = view, .reissue_from = served() + 1});
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

Reply BatchServer::serve(const Request& request) {
  const std::uint64_t number = served() + 1;
  const std::uint64_t context = context_of(request.opcode, number);
  Session::Answer answer{};
  switch (request.opcode) {
    case Opcode::kRead:
      answer = session_.read(request.key, context);
      break;
    case Opcode::kUpsert:
      answer.status = session_.upsert(request.key, request.value);
      break;
    case Opcode::kAdd:
      answer.status = session_.add(request.key, request.value, context);
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
  header.bytes = out.size() - begin - ReplyHeader::kBytes;
  write(out.data() + begin, header);
}

}  // namespace turntable::shadowfax
