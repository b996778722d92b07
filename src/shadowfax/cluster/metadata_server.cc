#include "shadowfax/cluster/metadata_server.h"

#include <optional>
#include <system_error>
#include <utility>

#include "common/checked_file.h"
#include "shadowfax/cluster/owner_lock.h"

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;

constexpr const char* kWhat = "cluster";

ClusterState kept_state(const std::string& file, ServerNumber owners) {
  const std::optional<Json> kept = read_checked(file, kWhat);
  if (!kept) {
    ClusterState state;
    state.view = View::equal(owners);
    return state;
  }
  try {
    return state_of(*kept);
  } catch (const std::exception& error) {
    throw CheckedFileError(file + ": no state of a cluster: " + error.what());
  }
}

std::uint64_t id_of(const Json& args) {
  return args.at("id").get<std::uint64_t>();
}

std::string incarnation_of(const Json& args) {
  return args.at("incarnation").get<std::string>();
}

// Of a CANCEL.
std::optional<Asker> source_of(const Json& args) {
  if (!args.contains("source")) return std::nullopt;
  return Asker{.server = args.at("source").get<ServerNumber>(),
               .incarnation = incarnation_of(args)};
}

Json refused(const std::string& why) {
  return {{"refused", why}};
}

}  // namespace

MetadataServer::MetadataServer(net::EventLoop& loop, const sockaddr_in& address,
                               net::Credentials credentials, std::string file, ServerNumber owners)
    : file_(std::move(file)),
      lock_(lock_as_owner(file_ + ".lock", "the lock of a metadata service")),
      state_(kept_state(file_, owners)),
      listener_(
          loop, address, std::move(credentials),
          [this](SessionId session, const ClusterMessage& message) {
            listener_.send(session, answer_to(message, answer(message)));
          },
          [](SessionId) {}) {
  write_checked(file_, kWhat, to_json(state_));  // that it can be
}

Json MetadataServer::answer(const ClusterMessage& message) {
  try {
    const Json args = Json::parse(message.json);
    switch (message.type) {
      case ClusterMessageType::kHello:
        return Json::object();
      case ClusterMessageType::kGet:
        return to_json(state_);
      case ClusterMessageType::kEnrol:
        return changed([&](ClusterState& state) {
          state.enrol(args.at("server").get<ServerNumber>(),
                      {.address = args.at("address").get<std::string>(),
                       .ports = args.at("ports").get<std::vector<std::uint16_t>>(),
                       .peer_port = args.at("peer_port").get<std::uint16_t>(),
                       .incarnation = incarnation_of(args)},
                      args.at("replaces").get<std::string>());
        });
      case ClusterMessageType::kBegin:
        return changed([&](ClusterState& state) {
          state.begin({.id = id_of(args),
                       .range = {args.at("first").get<std::uint64_t>(),
                                 args.at("last").get<std::uint64_t>()},
                       .source = args.at("source").get<ServerNumber>(),
                       .target = args.at("target").get<ServerNumber>(),
                       .receives_from = args.at("receives_from").get<std::uint64_t>(),
                       .indirection = args.value("indirection", false)},
                      incarnation_of(args));
        });
      case ClusterMessageType::kOwn:
        return changed([&](ClusterState& state) { state.own(id_of(args), incarnation_of(args)); });
      case ClusterMessageType::kComplete:
        return changed([&](ClusterState& state) {
          state.complete(id_of(args), incarnation_of(args), rest_of(args));
        });
      case ClusterMessageType::kResolved:
        return changed(
            [&](ClusterState& state) { state.resolved(id_of(args), incarnation_of(args)); });
      case ClusterMessageType::kCancel:
        return changed([&](ClusterState& state) { state.cancel(id_of(args), source_of(args)); });
      default:
        return refused(std::string(name_of(message.type)) + " is nothing for the metadata service");
    }
  } catch (const Refusal& refusal) {
    return refused(refusal.what());
  } catch (const std::system_error& error) {
    return refused(std::string("the state cannot be kept: ") + error.what());
  } catch (const Json::exception& error) {
    return refused(std::string("arguments that mean nothing: ") + error.what());
  }
}

// In the file first: what is answered must be true also after a crash.
Json MetadataServer::changed(const std::function<void(ClusterState&)>& change) {
  ClusterState next = state_;
  change(next);
  if (next != state_) write_checked(file_, kWhat, to_json(next));
  state_ = std::move(next);
  return to_json(state_);
}

}  // namespace turntable::shadowfax
