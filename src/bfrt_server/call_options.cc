#include "bfrt_server/call_options.h"

#include <charconv>
#include <chrono>
#include <string_view>

namespace turntable::bfrt_server {
namespace {

// -1: not given, or no number of this kind.
std::int64_t number(const grpc::ServerContext& context, const char* name) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(name);
  if (found == metadata.end()) return -1;
  std::int32_t value = -1;
  const char* const begin = found->second.data();
  const char* const end = begin + found->second.size();
  const auto parsed = std::from_chars(begin, end, value);
  return parsed.ec == std::errc() && parsed.ptr == end ? value : -1;
}

}  // namespace

CallOptions CallOptions::of(const grpc::ServerContext& context) {
  CallOptions options;
  const std::int64_t seconds = number(context, "deadline_sec");
  const std::int64_t nanoseconds = number(context, "deadline_nsec");
  if (seconds >= 0 || nanoseconds >= 0) {
    options.deadline =
        Deadline::after(std::chrono::seconds(std::max<std::int64_t>(seconds, 0)) +
                        std::chrono::nanoseconds(std::max<std::int64_t>(nanoseconds, 0)));
  }
  options.error_in_response = number(context, "error_in_resp") == 1;
  options.ignore_not_found = number(context, "ignore_not_found") == 1;
  options.abandoned = [&context] { return context.IsCancelled(); };
  return options;
}

}  // namespace turntable::bfrt_server
