#include "farreach/kv/history_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/clock.h"
#include "common/command_error.h"

namespace turntable::kv {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10;
constexpr std::size_t kLineBytes = 4096;  // of room for one more; a line with 100 retries fits

const char* name_of(workload::OperationType type) {
  switch (type) {
    case workload::OperationType::kPut:
      return "put";
    case workload::OperationType::kDelete:
      return "delete";
    default:
      return "get";
  }
}

void append(std::string& out, const char* name, std::optional<std::uint64_t> number) {
  out += name;
  out += number ? std::to_string(*number) : "null";
}

}  // namespace

HistoryLog::HistoryLog(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)),
      to_realtime_ns_(-realtime_to_monotonic_ns()) {
  if (!file_) {
    throw CommandError("unavailable", "cannot create the history " + file.string() + ": " +
                                          std::strerror(errno) +
                                          "; expected a writable directory in \"history\"");
  }
  buffer_.reserve(kBufferBytes + kLineBytes);
  buffer_ = "{\"history\":1}\n";
}

HistoryLog::~HistoryLog() {
  flush();
}

void HistoryLog::add(const HistoryOperation& operation) noexcept {
  const auto instant = [&](std::int64_t monotonic_ns) {
    return static_cast<std::uint64_t>(monotonic_ns + to_realtime_ns_);
  };
  const auto& answer = operation.answer;
  const bool is_get = operation.type == workload::OperationType::kGet;
  const bool is_put = operation.type == workload::OperationType::kPut;
  append(buffer_, "{\"client\":", operation.client);
  append(buffer_, ",\"key\":", operation.key);
  buffer_ += ",\"op\":\"";
  buffer_ += name_of(operation.type);
  append(buffer_, "\",\"invoke_ns\":", instant(operation.invoke_ns));
  buffer_ += ",\"sends_ns\":[";
  for (std::size_t i = 0; i < operation.sends_ns.size(); ++i) {
    append(buffer_, i == 0 ? "" : ",", instant(operation.sends_ns[i]));
  }
  append(buffer_,
         "],\"response_ns\":", answer ? std::optional(instant(answer->response_ns)) : std::nullopt);
  append(buffer_, ",\"version\":",
         is_put             ? std::optional(operation.version)
         : is_get && answer ? answer->version
                            : std::nullopt);
  append(buffer_, ",\"number\":",
         answer && answer->number ? std::optional<std::uint64_t>(*answer->number) : std::nullopt);
  append(buffer_, ",\"node\":", answer ? std::optional<std::uint64_t>(answer->node) : std::nullopt);
  buffer_ += ",\"found\":";
  buffer_ += !is_get || !answer ? "null" : answer->found ? "true" : "false";
  buffer_ += "}\n";
  ++operations_;
  if (buffer_.size() >= kBufferBytes) flush();
}

void HistoryLog::flush() noexcept {
  for (std::size_t written = 0; written < buffer_.size();) {
    const ssize_t count = ::write(file_.get(), buffer_.data() + written, buffer_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      complete_ = false;
      break;
    }
    written += static_cast<std::size_t>(count);
  }
  buffer_.clear();
}

}  // namespace turntable::kv
