#include "p4runtime_server/notifications.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/command_error.h"
#include "p4runtime_server/profile_fields.h"
#include "p4runtime_server/typed_data.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

// How long a change of ports, or the end of this object, may go unnoticed.
constexpr std::chrono::milliseconds kTurn{200};

// Until the next list has waited long enough.
double seconds_to_wait(const DigestLists& digests) {
  std::chrono::duration<double> wait = kTurn;
  if (const auto next = digests.next_due())
    wait = std::min(wait, std::chrono::duration<double>(*next - Clock::now()));
  return std::max(wait.count(), 0.0);
}

std::int64_t nanoseconds_since_epoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

Notifications::Notifications(ClientStreams& streams, Current current)
    : streams_(streams), current_(std::move(current)), thread_([this] { run(); }) {}

Notifications::~Notifications() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Notifications::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_all();
}

bool Notifications::stopped_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, time, [&] { return stopping_ || woken_; });
  woken_ = false;
  return stopping_;
}

void Notifications::run() {
  bool waited = false;
  while (!stopped_within(waited ? std::chrono::milliseconds(0) : kTurn)) {
    waited = false;
    try {
      const auto program = current_();
      if (program == nullptr) continue;
      if (program->digests().has_any()) {
        pass_digests_on(*program);  // waits for them for a turn
        waited = true;
      }
      streams_.alone([&] {
        if (current_() != program) return;  // another program was set meanwhile
        follow_ports(*program);
        tell_of_idle_entries(*program);
      });
    } catch (const CommandError&) {  // no switch: the next turn looks again
      waited = false;
    }
  }
}

// Digests are taken out of the switch's queue only while a client wants some.
void Notifications::pass_digests_on(RunningProgram& program) {
  DigestLists& lists = program.digests();
  const Json result = program.link().call("digest_wait", {{"deadline_s", seconds_to_wait(lists)}});
  if (streams_.has_primary()) {
    for (const Json& digest : result.at("digests")) {
      const auto* described = program.info().digest(digest.at("name").get<std::string>());
      if (described == nullptr) continue;
      p4::v1::P4Data data =
          digest_data(program.info().document(), described->type_spec(), digest.at("fields"));
      send(lists.add(described->preamble().id(), std::move(data), Clock::now()));
    }
  }
  send(lists.due(Clock::now()));
}

void Notifications::send(DigestLists::Lists lists) {
  for (p4::v1::DigestList& list : lists) {
    list.set_timestamp(nanoseconds_since_epoch());
    p4::v1::StreamMessageResponse message;
    *message.mutable_digest() = std::move(list);
    streams_.send_to_primaries(message);
  }
}

// While nobody writes. Without a primary nobody hears of them until they run out once more.
void Notifications::tell_of_idle_entries(RunningProgram& program) {
  for (p4::v1::IdleTimeoutNotification& idle : idle_timeouts_.run_out(program)) {
    idle.set_timestamp(nanoseconds_since_epoch());
    p4::v1::StreamMessageResponse message;
    *message.mutable_idle_timeout_notification() = std::move(idle);
    streams_.send_to_primaries(message);
  }
}

// While nobody writes.
void Notifications::follow_ports(RunningProgram& program) {
  if (program.watched().empty()) return;
  const PortStates ports = port_states(program.link());
  std::map<std::string, std::vector<std::pair<std::uint32_t, WatchedGroup>>> changed;
  for (const auto& [name, group] : program.watched()) {
    std::vector<bool> active = active_members(group.members, ports);
    if (active != group.active)
      changed[name.first].push_back({name.second, {group.members, std::move(active)}});
  }
  Json updates = Json::array();
  for (auto& [selector, groups] : changed) {
    Json keys = Json::array();
    for (const auto& [number, group] : groups) keys.push_back({{"key", {{kGroup, number}}}});
    const Json there =
        program.link().call("table_read", {{"table", selector}, {"entries", keys}}).at("entries");
    for (std::size_t i = 0; i < groups.size(); ++i) {
      Json fields = fields_if_still_there(groups[i].second, there.at(i));
      if (fields.is_null()) {
        groups[i].second = {};  // not watched any more
        continue;
      }
      updates.push_back({{"table", selector},
                         {"op", "modify"},
                         {"key", keys[i].at("key")},
                         {"data", std::move(fields)}});
    }
  }
  // A group that another control plane takes away meanwhile is left out.
  if (!updates.empty())
    program.link().call("table_write", {{"updates", updates}, {"on_error", "continue"}});
  for (auto& [selector, groups] : changed) {
    for (auto& [number, group] : groups) program.watch({selector, number}, std::move(group));
  }
}

}  // namespace turntable::p4runtime_server
