#include "bfrt_server/tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace turntable::bfrt_server {
namespace {

constexpr const char* kOptions = "--tls-certificate, --tls-key and --tls-client-ca";

bool is_loopback(const std::string& address) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1)
    return (ntohl(v4.s_addr) >> 24U) == IN_LOOPBACKNET;
  if (::inet_pton(AF_INET6, address.c_str(), &v6) != 1) return false;
  const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == IN_LOOPBACKNET;
  return is_mapped || IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string read_pem(const char* option, const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().find("-----BEGIN ") == std::string::npos) {
    throw std::runtime_error(std::string(option) + " " + path.string() +
                             ": it cannot be read, or is no PEM file (\"-----BEGIN …\")");
  }
  return text.str();
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> server_credentials(const TlsFiles& files) {
  const int given = !files.certificate.empty() + !files.key.empty() + !files.client_ca.empty();
  if (given == 0) return grpc::InsecureServerCredentials();
  if (given != 3)
    throw std::runtime_error(std::string(kOptions) + " are given together or not at all");
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = read_pem("--tls-client-ca", files.client_ca);
  options.pem_key_cert_pairs.push_back(
      {read_pem("--tls-key", files.key), read_pem("--tls-certificate", files.certificate)});
  return grpc::SslServerCredentials(options);
}

void check_who_may_reach(const std::string& address, const TlsFiles& files) {
  if (is_loopback(address) || !files.certificate.empty()) return;
  throw std::runtime_error("--address " + address +
                           ": beyond the loopback clients have to show certificates; give " +
                           kOptions + ", or leave the address out");
}

}  // namespace turntable::bfrt_server
