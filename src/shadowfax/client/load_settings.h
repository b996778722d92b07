// What a client's threads ask of the servers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/credentials.h"
#include "shadowfax/client/key_file.h"

namespace turntable::shadowfax {

struct ServerAddress {
  std::string address{};               // IPv4
  std::vector<std::uint16_t> ports{};  // of its workers

  // That of the worker which a thread's session is with.
  std::uint16_t port_for(std::size_t thread) const { return ports[thread % ports.size()]; }
};

class Directory;

// What servers speak: Shadowfax's own (wire.h), memcached's text, Redis's (client/text_protocol.h).
enum class Protocol : std::uint8_t { kShadowfax, kMemcached, kRedis };

inline constexpr std::array kProtocols = {std::pair(Protocol::kShadowfax, "shadowfax"),
                                          std::pair(Protocol::kMemcached, "memcached"),
                                          std::pair(Protocol::kRedis, "redis")};

inline std::optional<Protocol> protocol_of(std::string_view word) noexcept {
  for (const auto& [protocol, name] : kProtocols)
    if (word == name) return protocol;
  return std::nullopt;
}

// Where a client's servers are, and what they speak.
struct Servers {
  std::vector<ServerAddress> given{};  // each owns an equal range of hashes, in this order; or
  std::string metadata{};              // HOST:PORT of the service that knows them, of which
  Directory* directory = nullptr;      // a directory is opened. It outlives who uses it
  Protocol protocol = Protocol::kShadowfax;
  // Of Shadowfax's servers that are given; nothing: they ask for none. A directory has its own.
  std::optional<net::Credentials> credentials{};
};

// Workers have ports one after the other.
inline ServerAddress server_at(const std::string& address, unsigned base_port, unsigned workers) {
  ServerAddress server{.address = address, .ports = {}};
  for (unsigned i = 0; i < workers; ++i)
    server.ports.push_back(static_cast<std::uint16_t>(base_port + i));
  return server;
}

// Of a session.
struct Batching {
  std::size_t batch_requests = 1'926;  // 32 KiB of Shadowfax's with its header
  std::size_t pipeline = 2;            // batches under way
  std::size_t value_bytes = 8;         // of all values
};

// Shares of the requests; they add up to 1.
struct Mix {
  double read = 0, upsert = 0, add = 1;
};

struct LoadSettings {
  Servers servers{};
  unsigned threads = 1;
  std::vector<int> cpus{};  // thread t runs on the one at t modulo their number; empty: anywhere
  Batching batching{};
  Mix mix{};
  std::uint64_t keys = 1'000'000;  // 0 to keys - 1
  std::optional<double> theta{};   // of a scrambled Zipfian distribution; nothing: uniform
  // Keys of the requests instead, in this order: threads begin at equal distances.
  std::shared_ptr<const KeyFile> txns_file{};
  std::uint64_t seed = 1;
  unsigned client = 0, clients = 1;  // of the run's client hosts: no two draw the same
  // An open loop, of all threads together; nothing: pipelines are kept full.
  std::optional<double> rate_per_s{};
  std::int64_t sample_ns = 1'000'000'000;  // answers are counted by intervals of this length
};

}  // namespace turntable::shadowfax
