// Why a call, a stream or one update of a batch is refused, as P4Runtime says it.
#pragma once

#include <grpcpp/support/status.h>

#include <stdexcept>
#include <string>

#include "bfrt_server/lost_switch.h"
#include "common/command_error.h"

namespace turntable::p4runtime_server {

class Refusal : public std::runtime_error {
 public:
  Refusal(grpc::StatusCode code, const std::string& text) : std::runtime_error(text), code_(code) {}

  grpc::StatusCode code() const { return code_; }
  grpc::Status status() const { return {code_, what()}; }

 private:
  grpc::StatusCode code_;
};

inline Refusal invalid(const std::string& text) {
  return {grpc::StatusCode::INVALID_ARGUMENT, text};
}
inline Refusal not_found(const std::string& text) {
  return {grpc::StatusCode::NOT_FOUND, text};
}
inline Refusal denied(const std::string& text) {
  return {grpc::StatusCode::PERMISSION_DENIED, text};
}
inline Refusal out_of_range(const std::string& text) {
  return {grpc::StatusCode::OUT_OF_RANGE, text};
}
inline Refusal exhausted(const std::string& text) {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, text};
}
inline Refusal not_supported(const std::string& text) {
  return {grpc::StatusCode::UNIMPLEMENTED, text};
}

// softswitch's answer to a command.
inline Refusal from_switch(const std::string& code, const std::string& message) {
  using grpc::StatusCode;
  if (code == "exists") return {StatusCode::ALREADY_EXISTS, message};
  if (code == "not_found") return {StatusCode::NOT_FOUND, message};
  if (code == "referenced") return {StatusCode::FAILED_PRECONDITION, message};
  if (code == "full") return {StatusCode::RESOURCE_EXHAUSTED, message};
  if (code == "bad_argument") return {StatusCode::INVALID_ARGUMENT, message};
  if (bfrt_server::is_lost(code)) return {StatusCode::UNAVAILABLE, message};
  return {StatusCode::INTERNAL, message};
}

inline Refusal from_switch(const CommandError& error) {
  return from_switch(error.code(), error.what());
}

}  // namespace turntable::p4runtime_server
