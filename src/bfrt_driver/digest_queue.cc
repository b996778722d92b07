#include "bfrt_driver/digest_queue.h"

#include "bfrt_driver/value_codec.h"

namespace turntable::bfrt_driver {

using Json = nlohmann::json;

void DigestQueue::take(const SwitchSchema& schema, const bfrt_proto::DigestList& list) {
  const bfrt::LearnFilter* filter = schema.learn_filter(list.digest_id());
  const std::lock_guard lock(mutex_);
  for (const auto& digest : list.data()) {
    if (filter == nullptr || digests_.size() == kLength) {
      ++lost_;
      continue;
    }
    Json fields = Json::object();
    for (const auto& value : digest.fields()) {
      for (const bfrt::Field& field : filter->fields) {
        if (field.id == value.field_id())
          fields[field.name] = decode_data(field, value, /*fixed=*/false);
      }
    }
    digests_.push_back(
        {{"name", filter->name}, {"pipe", list.target().pipe_id()}, {"fields", std::move(fields)}});
  }
  came_.notify_all();
}

Json DigestQueue::read(std::size_t most, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto some = [&] { return closed_ || !digests_.empty(); };
  if (deadline.is_never()) {
    came_.wait(lock, some);
  } else {
    came_.wait_until(lock, deadline.time_point(), some);
  }
  Json digests = Json::array();
  while (digests.size() < most && !digests_.empty()) {
    digests.push_back(std::move(digests_.front()));
    digests_.pop_front();
  }
  return {{"digests", std::move(digests)}, {"waiting", digests_.size()}, {"lost", lost_}};
}

void DigestQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  came_.notify_all();
}

}  // namespace turntable::bfrt_driver
