#include "workload/recorded_trace.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/command_error.h"
#include "workload/recorded_reader.h"

namespace turntable::workload {
namespace {

constexpr std::uint32_t kLongestCached = 128;  // what a slot of a switch holds
// Of a key whose size no line says.
constexpr std::uint32_t kUnknownBytes = 128;

// Of requests in their order: two files with the same one are the same for a run.
class Digest {
 public:
  void add(const RecordedRequest& request) {
    mix(request.key);
    mix(std::uint64_t{request.value_bytes} << 8 | static_cast<std::uint64_t>(request.type) << 1 |
        (request.inserts ? 1 : 0));
  }

  std::string text() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state_));
    return text;
  }

 private:
  void mix(std::uint64_t word) { state_ = fnv_hash(state_ ^ word) * 0x9E3779B97F4A7C15; }

  std::uint64_t state_ = 0;
};

void count(const RecordedRequest& request, RecordedKey& key) {
  if (key.requests == 0) key.is_loaded = !request.inserts;
  ++key.requests;
  if (request.type == OperationType::kGet) ++key.reads;
  if (request.value_bytes == 0) return;
  if (key.loaded_bytes == 0) key.loaded_bytes = key.shortest = request.value_bytes;
  // What a GET found has been written by a PUT, or was there before: only the first one counts.
  if (request.type != OperationType::kPut) return;
  key.shortest = std::min(key.shortest, request.value_bytes);
  key.longest = std::max(key.longest, request.value_bytes);
}

void complete(RecordedKey& key) {
  if (key.loaded_bytes == 0) key.loaded_bytes = key.shortest = kUnknownBytes;
  key.longest = std::max(key.longest, key.loaded_bytes);
}

}  // namespace

bool RecordedKey::fits_a_switch() const {
  return longest <= kLongestCached;
}

RecordedTrace::RecordedTrace(std::string file, std::uint64_t operations, std::string digest)
    : file_(std::move(file)), operations_(operations), planned_digest_(std::move(digest)) {}

std::string RecordedTrace::digest() const {
  return planned_digest_.empty() ? read().digest : planned_digest_;
}

const RecordedTrace::Contents& RecordedTrace::read() const {
  const std::lock_guard lock(mutex_);
  if (!contents_) contents_ = read_file();
  return *contents_;
}

RecordedTrace::Contents RecordedTrace::read_file() const {
  Contents made;
  Digest digest;
  RecordedReader reader(file_);
  RecordedRequest request{};
  while (reader.next(request)) {
    if (made.requests == operations_) {
      made.is_cut = true;
      break;
    }
    ++made.requests;
    if (request.type == OperationType::kDelete) ++made.deletes;
    digest.add(request);
    count(request, made.keys[request.key]);
  }
  for (auto& [id, key] : made.keys) {
    complete(key);
    made.longest_value = std::max(made.longest_value, key.longest);
  }
  made.digest = digest.text();
  const bool is_planned = made.digest == planned_digest_ && made.requests == operations_;
  if (!planned_digest_.empty() && !is_planned) {
    throw bad_argument("trace " + file_ + ": its first " + std::to_string(made.requests) +
                       " requests have the digest " + made.digest + "; expected " +
                       std::to_string(operations_) + " with " + planned_digest_ +
                       ", as when the run was planned: the same file has to be at this path on "
                       "the controller, server hosts and client hosts, and stay as it is");
  }
  return made;
}

std::vector<KeyId> RecordedTrace::hottest(std::uint64_t k) const {
  std::vector<std::pair<std::uint64_t, KeyId>> ranked;
  for (const auto& [id, key] : keys()) {
    if (key.fits_a_switch()) ranked.emplace_back(key.requests, id);
  }
  const auto before = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::sort(ranked.begin(), ranked.end(), before);
  ranked.resize(std::min<std::uint64_t>(k, ranked.size()));
  std::vector<KeyId> hottest;
  hottest.reserve(ranked.size());
  for (const auto& [requests, id] : ranked) hottest.push_back(id);
  return hottest;
}

std::vector<std::vector<Operation>> RecordedTrace::traces(unsigned clients, unsigned first,
                                                          unsigned count) const {
  const Contents& contents = read();
  if (contents.requests < clients) {
    throw bad_argument("trace " + file_ + ": " + std::to_string(contents.requests) +
                       " requests; expected at least one for each of the " +
                       std::to_string(clients) + " clients: a longer trace, or fewer clients");
  }
  std::vector<std::vector<Operation>> traces(count);
  for (auto& trace : traces) trace.reserve(contents.requests / clients + 1);
  RecordedReader reader(file_);
  RecordedRequest request{};
  for (std::uint64_t t = 0; t < contents.requests && reader.next(request); ++t) {
    const std::uint64_t client = t % clients;
    if (client < first || client - first >= count) continue;
    Operation operation{.key = request.key, .slot = slot_of(request.key), .type = request.type};
    operation.value_bytes = request.value_bytes;
    if (request.type == OperationType::kGet) {
      const auto found = contents.keys.find(request.key);
      const bool one_size =
          found != contents.keys.end() && found->second.shortest == found->second.longest;
      operation.value_bytes = one_size ? found->second.longest : 0;
    }
    traces[client - first].push_back(operation);
  }
  return traces;
}

}  // namespace turntable::workload
