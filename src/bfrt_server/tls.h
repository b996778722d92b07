// Mutual TLS: clients see whom they talk to, and have to say who they are.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <filesystem>
#include <memory>
#include <string>

namespace turntable::bfrt_server {

// PEM files.
struct TlsFiles {
  std::filesystem::path certificate;  // the server's, then those between it and the root
  std::filesystem::path key;          // of it
  std::filesystem::path client_ca;    // whose clients are let in
};

// Without any file: whoever reaches the port is let in. Throws std::runtime_error, which names the
// option, where some are missing or cannot be read.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const TlsFiles& files);

// Throws std::runtime_error where the address is beyond the loopback and there are no files.
void check_who_may_reach(const std::string& address, const TlsFiles& files);

}  // namespace turntable::bfrt_server
