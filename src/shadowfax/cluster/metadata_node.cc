#include "shadowfax/cluster/metadata_node.h"

#include <filesystem>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

#include "common/command_error.h"
#include "net/event_loop.h"
#include "net/ipv4.h"
#include "node/arguments.h"
#include "shadowfax/cluster/metadata_server.h"

namespace turntable::shadowfax {
namespace {

using Json = MetadataNode::Json;
using node::Arguments;

constexpr std::int64_t kMaxPort = 65'535;
constexpr std::int64_t kMaxOwners = 100'000;

}  // namespace

class MetadataNode::Service {
 public:
  Service(const sockaddr_in& at, net::Credentials credentials, const std::string& file,
          ServerNumber owners)
      : server_(loop_, at, std::move(credentials), file, owners),
        thread_([this] { loop_.run(); }) {}
  ~Service() {
    loop_.stop();
    thread_.join();
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  std::uint16_t port() const { return server_.port(); }
  Json state() {
    std::promise<Json> answer;
    loop_.post([&] { answer.set_value(to_json(server_.state())); });
    return answer.get_future().get();
  }

 private:
  net::EventLoop loop_;
  MetadataServer server_;
  std::thread thread_;  // last: it uses the others
};

MetadataNode::MetadataNode(std::string address, CredentialsFor credentials,
                           std::function<void(std::string)> set_state)
    : address_(std::move(address)),
      credentials_(std::move(credentials)),
      set_state_(std::move(set_state)) {}

MetadataNode::~MetadataNode() = default;

Json MetadataNode::prepare(const Json& args) {
  const std::string where = "hlmeta-node prepare";
  const Arguments arguments(where, args, {"port", "file", "owners"});
  const auto port = static_cast<std::uint16_t>(arguments.integer("port", 0, kMaxPort));
  const auto owners = static_cast<ServerNumber>(arguments.integer("owners", 1, kMaxOwners));
  const std::string file = arguments.text("file");
  const std::lock_guard lock(mutex_);
  service_.reset();
  set_state_("idle");
  try {
    std::filesystem::remove(file);
    service_ = std::make_unique<Service>(net::parse_ipv4("--address", address_, port),
                                         credentials_("metadata"), file, owners);
  } catch (const std::runtime_error& error) {
    throw CommandError("unavailable", where + ": " + error.what());
  }
  set_state_("serving");
  return {{"port", service_->port()}};
}

Json MetadataNode::stats(const Json& args) {
  const Arguments arguments("hlmeta-node stats", args, {});
  const std::lock_guard lock(mutex_);
  if (!service_)
    throw CommandError("wrong_state", "hlmeta-node stats: nothing is served; send `prepare` first");
  return service_->state();
}

Json MetadataNode::stop(const Json& args) {
  const Arguments arguments("hlmeta-node stop", args, {});
  const std::lock_guard lock(mutex_);
  service_.reset();
  set_state_("idle");
  return Json::object();
}

}  // namespace turntable::shadowfax
