#include "farreach/kv/copies_link.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/deadline.h"
#include "farreach/kv/value.h"

namespace turntable::kv {
namespace {

using cache::Message;
using cache::MessageType;
using Copy = ClientCopies::Copy;
using Kind = cache::Record::Kind;

constexpr std::uint32_t kMostAtOnce = 100'000;  // a page of these is a message of 15 MB
constexpr std::chrono::seconds kLoopDeadline{10};

cache::Record record_of(const Copy& copy) {
  cache::Record record = cache::key_only(workload::wire_key(copy.key));
  record.number = copy.number;
  record.kind = copy.exists ? Kind::kValue : Kind::kDeleted;
  record.value.resize(copy.exists ? copy.value_bytes : 0);
  fill_value(record.value, copy.key, copy.version);
  return record;
}

// By key as on the wire; of one key the newest first.
bool comes_first(const Copy& one, const Copy& other) {
  if (one.key == other.key) return one.number > other.number;
  return workload::wire_key(one.key) < workload::wire_key(other.key);
}

}  // namespace

CopiesLink::CopiesLink(const sockaddr_in& controller, net::Credentials credentials,
                       std::vector<ClientPart*> clients)
    : clients_(std::move(clients)) {
  link_.emplace(
      loop_, controller, std::move(credentials),
      [] { return cache::request(MessageType::kClientHello, {cache::kMessagesVersion}); },
      [this](const Message& request) {
        const Message told = answer(request);
        if (!told.text.empty()) ++refused_;
        link_->send(told);
      });
  thread_ = std::thread([this] { loop_.run(); });
}

CopiesLink::~CopiesLink() {
  loop_.stop();
  thread_.join();
}

CopiesLink::Json CopiesLink::statistics() {
  const auto read = [this] {
    return Json{{"connected", link_->is_up()},
                {"lists", lists_},
                {"repeated_lists", repeated_lists_},
                {"refused", refused_}};
  };
  return loop_.tasks().call(read, Deadline::after(kLoopDeadline));
}

Message CopiesLink::answer(const Message& request) {
  switch (request.type) {
    case MessageType::kReleaseCopies:
      return release(request);
    case MessageType::kCopies:
      return page(request);
    default:
      return cache::failure_of(
          request, std::string("kvclient does not answer ") + cache::name_of(request.type));
  }
}

Message CopiesLink::release(const Message& request) {
  if (request.numbers.size() != 2 || request.numbers[1] > 1) {
    return cache::failure_of(request, "RELEASE_COPIES needs the snapshot's id, and 0 or 1");
  }
  const auto [id, confirmed] = std::pair(request.numbers[0], request.numbers[1] == 1);
  if (id == last_list_) {
    ++repeated_lists_;
    return cache::answer_to(request);
  }
  if (last_list_ && id < *last_list_) {
    return cache::failure_of(request, "list " + std::to_string(id) + " came after list " +
                                          std::to_string(*last_list_) + "; expected a larger one");
  }
  std::vector<ClientCopies::Listed> list;
  list.reserve(request.records.size());
  for (const cache::Record& record : request.records) {
    const auto key = workload::key_id_from_wire(record.key);
    if (!key) return cache::failure_of(request, "a key does not begin with eight zero bytes");
    list.push_back({*key, record.number});
  }
  std::sort(list.begin(), list.end(), [](const auto& one, const auto& other) {
    return std::pair(one.key, one.number) < std::pair(other.key, other.number);
  });
  last_list_ = id;
  ++lists_;
  for (ClientPart* client : clients_) client->copies().release(list, confirmed);
  return cache::answer_to(request);
}

// The copies are collected when the first page is asked for, or when the controller that asked for
// it is another now.
Message CopiesLink::page(const Message& request) {
  if (request.numbers.size() != 1 || request.numbers[0] == 0 || request.numbers[0] > kMostAtOnce) {
    return cache::failure_of(
        request, "COPIES needs how many are asked for, from 1 to " + std::to_string(kMostAtOnce));
  }
  if (request.records.size() > 1) {
    return cache::failure_of(request, "COPIES needs one key to go on behind, or none");
  }
  auto from = pages_.cbegin();
  if (request.records.empty() || pages_.empty()) {
    collect();
    from = pages_.cbegin();
  }
  if (!request.records.empty()) {
    from = std::upper_bound(pages_.cbegin(), pages_.cend(), request.records.front().key,
                            [](const workload::KeyBytes& key, const Copy& copy) {
                              return key < workload::wire_key(copy.key);
                            });
  }
  const auto left = static_cast<std::size_t>(pages_.cend() - from);
  const std::size_t count = std::min<std::size_t>(left, request.numbers.front());
  std::vector<cache::Record> records;
  records.reserve(count);
  std::transform(from, from + static_cast<std::ptrdiff_t>(count), std::back_inserter(records),
                 record_of);
  if (count < request.numbers.front()) pages_ = {};  // that was the last
  return cache::answer_to(request, {}, std::move(records));
}

void CopiesLink::collect() {
  pages_.clear();
  // Answers that wait in the clients' sockets are of writes that only the switch may have, too.
  for (ClientPart* client : clients_) client->read_waiting();
  for (ClientPart* client : clients_) {
    client->copies().for_each([this](const Copy& copy) { pages_.push_back(copy); });
  }
  std::sort(pages_.begin(), pages_.end(), comes_first);
  const auto twins =
      std::unique(pages_.begin(), pages_.end(),
                  [](const Copy& one, const Copy& other) { return one.key == other.key; });
  pages_.erase(twins, pages_.end());
}

}  // namespace turntable::kv
