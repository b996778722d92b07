// Why a call, or one update of it, failed: as an SDE's server says it. The text ends with the
// driver's words for the kind of failure ("Already exists").
#pragma once

#include <grpcpp/support/status.h>

#include <stdexcept>
#include <string>

#include "bfrt_server/lost_switch.h"
#include "common/command_error.h"

namespace turntable::bfrt_server {

class Failure : public std::runtime_error {
 public:
  Failure(grpc::StatusCode code, const std::string& text) : std::runtime_error(text), code_(code) {}

  grpc::StatusCode code() const { return code_; }
  grpc::Status status() const { return {code_, what()}; }

 private:
  grpc::StatusCode code_;
};

inline Failure invalid(const std::string& text) {
  return {grpc::StatusCode::INVALID_ARGUMENT, text + " Invalid arguments"};
}
inline Failure not_found(const std::string& text) {
  return {grpc::StatusCode::NOT_FOUND, text + " Object not found"};
}
inline Failure already_exists(const std::string& text) {
  return {grpc::StatusCode::ALREADY_EXISTS, text + " Already exists"};
}
// A member or group that entries name.
inline Failure referenced(const std::string& text) {
  return {grpc::StatusCode::ALREADY_EXISTS,
          text + " Action data entry is being referenced by match entries"};
}
inline Failure no_space(const std::string& text) {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, text + " Not enough space"};
}
inline Failure not_supported(const std::string& text) {
  return {grpc::StatusCode::UNIMPLEMENTED, text + " Operation not supported"};
}
inline Failure not_ready(const std::string& text) {
  return {grpc::StatusCode::UNAVAILABLE, text + " Not ready"};
}
inline Failure unexpected(const std::string& text) {
  return {grpc::StatusCode::UNKNOWN, text + " Unexpected error"};
}
inline Failure internal(const std::string& text) {
  return {grpc::StatusCode::INTERNAL, text + " Internal error"};
}

// softswitch's answer to a control command, after `context` ("Table Add failed table:NAME").
inline Failure from_switch(const std::string& context, const std::string& code,
                           const std::string& message) {
  const std::string text = context + ": " + message;
  if (code == "exists") return already_exists(text);
  if (code == "referenced") return referenced(text);
  if (code == "not_found") return not_found(text);
  if (code == "full") return no_space(text);
  if (code == "bad_argument") return invalid(text);
  if (is_lost(code)) return not_ready(text);
  return internal(text);
}

inline Failure from_switch(const std::string& context, const CommandError& error) {
  return from_switch(context, error.code(), error.what());
}

}  // namespace turntable::bfrt_server
