#include "homa/nodes/server_node.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "homa/nodes/arguments.h"
#include "homa/nodes/raw_statistics.h"

namespace turntable::homa {

using Json = ServerNode::Json;
using node::Arguments;

ServerNode::ServerNode(net::DatagramSettings local, std::function<void(std::string)> set_state)
    : local_(std::move(local)), set_state_(std::move(set_state)) {}

Json ServerNode::prepare(const Json& args) {
  const std::string where = "msgbench-server prepare";
  const Arguments arguments(where, args, {"transport", "clients", "response_bytes", "realtime"});
  const MessageServer::Settings settings{
      .transport = transport_argument(where, arguments.object("transport")),
      .response_bytes =
          static_cast<std::uint32_t>(arguments.integer_or("response_bytes", 0, 1 << 20, 0)),
      .realtime = arguments.boolean("realtime")};
  Peers clients = peers_argument(where, arguments, "clients");
  const std::lock_guard lock(mutex_);
  server_.reset();  // its port is needed again
  set_state_("idle");
  server_ = std::make_unique<MessageServer>(settings, std::move(clients), local_);
  set_state_("serving");
  return Json::object();
}

Json ServerNode::start(const Json& args) {
  const Arguments arguments("msgbench-server start", args, {});
  const std::lock_guard lock(mutex_);
  require_serving("start");
  server_->begin_window();
  return Json::object();
}

Json ServerNode::stats(const Json& args) {
  const Arguments arguments("msgbench-server stats", args, {});
  const std::lock_guard lock(mutex_);
  require_serving("stats");
  return raw_statistics(server_->statistics());
}

Json ServerNode::stop(const Json& args) {
  const Arguments arguments("msgbench-server stop", args, {});
  const std::lock_guard lock(mutex_);
  server_.reset();
  set_state_("idle");
  return Json::object();
}

void ServerNode::require_serving(const char* command) const {
  if (server_) return;
  throw CommandError("wrong_state", std::string("msgbench-server ") + command +
                                        ": nothing is served; send `prepare` first");
}

}  // namespace turntable::homa
