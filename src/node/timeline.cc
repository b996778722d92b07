#include "node/timeline.h"

#include <chrono>

#include "common/clock.h"
#include "common/command_error.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostEvents = 256;

const Json& member(const Json& object, const char* key, Json::value_t type) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  const bool fits = found != object.end() &&
                    (found->type() == type ||
                     (type == Json::value_t::number_integer && found->is_number_integer()));
  if (!fits) {
    // The rest is not quoted: requests may hold what nobody else is to know.
    throw bad_argument(std::string("timeline: \"") + key +
                       "\" is missing or of another type; expected {\"at_ns\": N, \"label\": TEXT, "
                       "\"requests\": [{\"node\", \"command\", \"args\"}]}");
  }
  return *found;
}

Timeline::Request request_of(const Json& json) {
  return {member(json, "node", Json::value_t::string),
          member(json, "command", Json::value_t::string),
          member(json, "args", Json::value_t::object)};
}

}  // namespace

void Timeline::set(std::vector<Event> events) {
  const std::scoped_lock setting(setting_);
  forget();
  const std::scoped_lock lock(mutex_);
  events_ = std::move(events);
  for (std::size_t i = 0; i < events_.size(); ++i) threads_.emplace_back([this, i] { run(i); });
}

void Timeline::clear() {
  const std::scoped_lock setting(setting_);
  forget();
}

void Timeline::forget() {
  std::vector<std::jthread> ending;
  {
    const std::scoped_lock lock(mutex_);
    clearing_ = true;
    ending.swap(threads_);
  }
  wake_.notify_all();
  ending.clear();  // joins
  const std::scoped_lock lock(mutex_);
  clearing_ = false;
  events_.clear();
}

std::vector<Timeline::Event> Timeline::events() const {
  const std::scoped_lock lock(mutex_);
  return events_;
}

void Timeline::run(std::size_t index) {
  std::unique_lock lock(mutex_);
  const auto at =
      std::chrono::system_clock::time_point(std::chrono::nanoseconds(events_[index].at_ns));
  if (wake_.wait_until(lock, at, [this] { return clearing_; })) return;
  const std::vector<Request> requests = events_[index].requests;
  events_[index].began_ns = realtime_ns();
  lock.unlock();
  std::string error;
  for (const Request& request : requests) {
    {
      const std::scoped_lock still(mutex_);
      if (clearing_) break;
    }
    try {
      ask_(request);
    } catch (const std::exception& failure) {
      error = request.node + " " + request.command + ": " + failure.what();
      break;
    }
  }
  lock.lock();
  events_[index].ended_ns = realtime_ns();
  events_[index].error = std::move(error);
}

std::vector<Timeline::Event> timeline_of(const Json& args) {
  const Json& given = member(args, "events", Json::value_t::array);
  if (given.size() > kMostEvents) {
    throw bad_argument("timeline: " + std::to_string(given.size()) + " events; expected at most " +
                       std::to_string(kMostEvents));
  }
  std::vector<Timeline::Event> events;
  for (const Json& one : given) {
    Timeline::Event& event = events.emplace_back();
    event.at_ns = member(one, "at_ns", Json::value_t::number_integer);
    event.label = member(one, "label", Json::value_t::string);
    for (const Json& request : member(one, "requests", Json::value_t::array))
      event.requests.push_back(request_of(request));
  }
  return events;
}

Json to_json(const std::vector<Timeline::Event>& events) {
  Json list = Json::array();
  for (const Timeline::Event& event : events) {
    Json one = {{"at_ns", event.at_ns}, {"label", event.label}};
    one["began_ns"] = event.began_ns ? Json(*event.began_ns) : Json();
    one["ended_ns"] = event.ended_ns ? Json(*event.ended_ns) : Json();
    one["error"] = event.error.empty() ? Json() : Json(event.error);
    list.push_back(std::move(one));
  }
  return {{"events", std::move(list)}};
}

}  // namespace turntable::node
