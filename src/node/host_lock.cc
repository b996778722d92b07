#include "node/host_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/errno_error.h"
#include "common/file_lock.h"
#include "node/control_client.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

constexpr double kPingDeadlineS = 2;

std::filesystem::path lock_file(const std::filesystem::path& directory) {
  return directory / "supervisor.lock";
}

bool is_held(const std::filesystem::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return false;
  if (!file) throw errno_error("cannot open " + path.native());
  return !lock_at_once(file, LOCK_SH, path);
}

Json content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Json content = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return content.is_object() ? content : Json();  // not yet written
}

}  // namespace

std::optional<HostLock> HostLock::try_take(const std::filesystem::path& directory) {
  const std::filesystem::path path = lock_file(directory);
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file) throw errno_error("cannot open " + path.native());
  if (!lock_at_once(file, LOCK_EX, path)) return std::nullopt;
  return HostLock(std::move(file));
}

Json HostLock::read() const {
  return content_of("/proc/self/fd/" + std::to_string(file_.get()));
}

void HostLock::write(const Json& content) const {
  const std::string text = content.dump();
  const bool written =
      ::ftruncate(file_.get(), 0) == 0 &&
      ::pwrite(file_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  if (!written) throw errno_error("cannot write the owner to supervisor.lock");
}

Json holder_of(const std::filesystem::path& directory) {
  const std::filesystem::path path = lock_file(directory);
  if (!is_held(path)) return {{"held", false}};
  Json holder = {{"held", true}, {"answers", false}, {"owner", content_of(path)}};
  try {
    ControlClient::CallOptions options;
    options.deadline = Deadline::after_seconds(kPingDeadlineS);
    holder.update(ControlClient(directory, "supervisor").call("ping", Json::object(), options));
    holder["answers"] = true;
  } catch (const std::runtime_error&) {
    // Nobody listens, or nobody answers: what is known is in the file.
  }
  return holder;
}

}  // namespace turntable::node
