// kvserver-in-memory: the request path of a logical server without sockets.
//
//   kvserver-in-memory build --store DIR --keys 1000000
//       makes a store as kvserver does, with the keys of the records 0 .. keys - 1, and prints what
//       `db_bench` needs to be given the same settings
//   kvserver-in-memory serve --store DIR --keys 1000000 --operations 5000000 --seed 1
//       feeds requests to the store and checks every answer
//
// The requests are those of db_bench's readrandomwriterandom at 50 percent: keys chosen uniformly,
// fifty reads after fifty writes. They lie in memory as datagrams, and each is decoded, checked,
// executed and answered into a buffer by the code that kvserver runs.
#include <rocksdb/cache.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/command_line.h"
#include "common/run_main.h"
#include "farreach/kv/nocache_handler.h"
#include "farreach/kv/store_builder.h"
#include "farreach/kv/value.h"
#include "workload/random.h"

namespace turntable::bench {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr kv::StoreProfile kProfile = kv::StoreProfile::kEmbedded;
constexpr std::uint32_t kValueBytes = 128;
constexpr std::size_t kReadsOrWritesInARow = 50;
constexpr std::size_t kPrepared = 200'000;  // requests in memory; they are fed over and over

struct Options {
  fs::path store;
  std::uint64_t keys = 1'000'000;
  std::uint64_t operations = 1'000'000;
  std::uint64_t seed = 1;
};

// The file in which RocksDB keeps the settings of a store that it has opened.
fs::path settings_file(const fs::path& store) {
  fs::path newest;
  for (const fs::directory_entry& entry : fs::directory_iterator(store)) {
    const bool is_one = entry.path().filename().string().starts_with("OPTIONS-");
    if (is_one && entry.path() > newest) newest = entry.path();
  }
  return newest;
}

void build(const Options& options) {
  kv::StoreSpec spec;
  spec.profile = kProfile;
  spec.workload.value_bytes = kValueBytes;
  std::vector<workload::KeyId> keys;
  for (std::uint64_t number = 0; number < options.keys; ++number)
    keys.push_back(workload::key_id(number));
  std::sort(keys.begin(), keys.end());
  kv::build_store(options.store, spec, keys);
  const kv::Store opened(options.store, kProfile);  // leaves the settings that it was opened with

  const rocksdb::Options settings = kv::store_options(kProfile);
  const auto* table = settings.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  std::cout << Json{{"options_file", settings_file(options.store)},
                    {"cache_size", table->block_cache->GetCapacity()},
                    {"cache_numshardbits", kv::kBlockCacheShardBits},
                    {"value_size", kValueBytes}}
                   .dump()
            << std::endl;
}

// Datagrams one behind the other.
class Requests {
 public:
  Requests(std::size_t count, std::uint64_t keys, std::uint64_t seed) {
    workload::Random random(seed);
    bytes_.reserve(count * kv::kMaxPacketBytes);
    ends_.reserve(count);
    std::array<std::uint8_t, kv::kMaxPacketBytes> datagram;
    std::array<std::uint8_t, kValueBytes> value;
    for (std::size_t i = 0; i < count; ++i) {
      const workload::KeyId key = workload::key_id(random.next() % keys);
      kv::Packet request{.type = kv::PacketType::kGetRequest,
                         .key = workload::wire_key(key),
                         .request_id = static_cast<std::uint32_t>(i)};
      if (i / kReadsOrWritesInARow % 2 == 1) {
        kv::fill_value(value, key, i + 1);
        request.type = kv::PacketType::kPutRequest;
        request.value = value;
      }
      const std::size_t size = kv::encode(request, datagram);
      bytes_.insert(bytes_.end(), datagram.begin(), datagram.begin() + size);
      ends_.push_back(bytes_.size());
    }
  }

  std::span<const std::uint8_t> operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(bytes_).subspan(begin, ends_[i] - begin);
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::vector<std::size_t> ends_;
};

void serve(const Options& options) {
  const Requests requests(kPrepared, options.keys, options.seed);
  kv::Store store(options.store, kProfile);
  kv::NoCacheHandler handler(store, /*partition=*/0, /*scale=*/1, [](const std::string& error) {
    throw std::runtime_error("the store failed: " + error);
  });
  std::array<std::uint8_t, kv::kMaxPacketBytes> datagram;
  for (std::uint64_t i = 0; i < options.operations; ++i) {
    kv::Packet request, answer;
    const bool well =
        kv::decode(requests[i % kPrepared], request) == kv::DecodeStatus::kOk &&
        handler.accepts(request.type) && handler.owns(request) &&
        handler.execute(request, {}, answer) == kv::RequestHandler::Outcome::kAnswer &&
        kv::encode(answer, datagram) > 0;
    if (!well) throw std::runtime_error("request " + std::to_string(i) + " was not answered");
  }
  const kv::HandlerCounters& counters = handler.counters();
  if (counters.not_found.get() > 0) throw std::runtime_error("keys are missing in the store");
  std::cout << Json{{"reads", counters.reads.get()}, {"writes", counters.writes.get()}}.dump()
            << std::endl;
}

int run_program(int argc, char** argv) {
  Options options;
  turntable::CommandLine app("kvserver-in-memory",
                             "The request path of a logical server without sockets");
  app.require_subcommand(1);
  const auto command = [&](const char* name, const char* text) {
    CLI::App* added = app.add_subcommand(name, text);
    added->add_option("--store", options.store, "Directory of the database")->required();
    added->add_option("--keys", options.keys)->capture_default_str()->check(CLI::PositiveNumber);
    return added;
  };
  const CLI::App* builder = command("build", "make a store");
  CLI::App* server = command("serve", "feed requests to it");
  server->add_option("--operations", options.operations)->check(CLI::PositiveNumber);
  server->add_option("--seed", options.seed);
  CLI11_PARSE(app, argc, argv);
  builder->parsed() ? build(options) : serve(options);
  return 0;
}

}  // namespace
}  // namespace turntable::bench

int main(int argc, char** argv) {
  return turntable::run_main("kvserver-in-memory",
                             [&] { return turntable::bench::run_program(argc, argv); });
}
