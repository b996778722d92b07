#include "shadowfax/client/directory.h"

#include <utility>

namespace turntable::shadowfax {
namespace {

constexpr double kAnswerSeconds = 1;

}  // namespace

Directory::Directory(const sockaddr_in& metadata, net::Credentials credentials, Deadline deadline)
    : credentials_(credentials.of_connection("batches")),
      metadata_("the metadata service", metadata, std::move(credentials)),
      newest_(std::make_shared<const ClusterState>(
          state_of(metadata_.ask(ClusterMessageType::kGet, nlohmann::json::object(), deadline)))),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

std::shared_ptr<const ClusterState> Directory::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

void Directory::look() {
  const std::lock_guard lock(mutex_);
  is_wanted_ = true;
  changed_.notify_all();
}

void Directory::work(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return is_wanted_; })) return;
      is_wanted_ = false;
    }
    try {
      auto state = std::make_shared<const ClusterState>(
          state_of(metadata_.ask(ClusterMessageType::kGet, nlohmann::json::object(),
                                 Deadline::after_seconds(kAnswerSeconds), {}, stop)));
      const std::lock_guard lock(mutex_);
      newest_ = std::move(state);
    } catch (const std::exception&) {
      // Whoever needs it looks again.
    }
  }
}

}  // namespace turntable::shadowfax
