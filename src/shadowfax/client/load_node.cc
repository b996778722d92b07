#include "shadowfax/client/load_node.h"

#include <stdexcept>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/deadline.h"
#include "net/ipv4.h"
#include "node/arguments.h"
#include "shadowfax/client/directory.h"
#include "shadowfax/client/fill.h"
#include "shadowfax/client/load_arguments.h"
#include "shadowfax/client/raw_statistics.h"

namespace turntable::shadowfax {
namespace {

using Json = LoadNode::Json;
using node::Arguments;

constexpr double kMaxDeadlineS = 24 * 3600;
constexpr double kMetadataS = 5;

}  // namespace

LoadNode::LoadNode(std::function<void(std::string)> set_state, CredentialsFor credentials)
    : credentials_(std::move(credentials)), life_("hlload-node", std::move(set_state)) {}

LoadNode::~LoadNode() = default;

// Of what is asked for now: the service may be another one.
void LoadNode::open_directory(const std::string& where, Servers& servers) {
  directory_.reset();
  if (credentials_) servers.credentials = credentials_("batches");
  if (servers.metadata.empty()) return;
  if (!credentials_)
    throw bad_argument(where + ": metadata " + servers.metadata +
                       " for a node without a secret; expected --secret FILE when it is begun");
  const sockaddr_in at = net::parse_endpoint(where + ": metadata", servers.metadata);
  try {
    directory_ = std::make_unique<Directory>(at, credentials_("directory"),
                                             Deadline::after_seconds(kMetadataS));
  } catch (const NoAnswer& error) {
    throw CommandError("unavailable", where + ": " + error.what());
  }
  servers.directory = directory_.get();
}

Json LoadNode::fill(const Json& args) {
  const std::string where = "hlload-node fill";
  const Arguments arguments(
      where, args,
      {"protocol", "servers", "metadata", "threads", "keys", "load_file", "value_bytes",
       "batch_bytes", "pipeline", "clients", "client", "deadline_s"});
  FillSettings settings = fill_arguments(where, arguments);
  const double deadline_s = arguments.number("deadline_s", 0.001, kMaxDeadlineS);
  const auto command = life_.begin_prepare([&] {
    threads_.clear();
    before_ = {};
    filled_ = Json();
  });
  open_directory(where, settings.servers);
  const std::int64_t began_ns = monotonic_ns();
  const std::int64_t deadline_ns = began_ns + static_cast<std::int64_t>(deadline_s * 1e9);
  try {
    const std::uint64_t stored = shadowfax::fill(settings, deadline_ns, life_.cancelled());
    filled_ = {{"stored", stored},
               {"seconds", static_cast<double>(monotonic_ns() - began_ns) / 1e9}};
    return filled_;
  } catch (const std::runtime_error& error) {
    throw CommandError("unavailable", where + ": " + error.what());
  }
}

Json LoadNode::prepare(const Json& args) {
  const std::string where = "hlload-node prepare";
  LoadSettings settings = load_arguments(where, args);
  const auto command = life_.begin_prepare([&] {
    for (const ThreadResult& result : results()) {
      before_.issued += result.load.adds_issued_total;
      before_.acknowledged += result.load.adds_acknowledged_total;
    }
    threads_.clear();
  });
  open_directory(where, settings.servers);
  sample_ns_ = settings.sample_ns;
  std::vector<std::unique_ptr<LoadThread>> threads;
  try {
    for (unsigned thread = 0; thread < settings.threads; ++thread)
      threads.push_back(std::make_unique<LoadThread>(settings, thread));
  } catch (const std::runtime_error& error) {
    throw CommandError("unavailable", where + ": " + error.what());
  } catch (const std::invalid_argument& error) {
    throw bad_argument(where + ": " + error.what());
  }
  life_.prepared([&] {
    threads_ = std::move(threads);
    std::vector<load::Part*> parts;
    parts.reserve(threads_.size());
    for (const auto& each : threads_) parts.push_back(each.get());
    return parts;
  });
  return Json::object();
}

std::vector<ThreadResult> LoadNode::results() const {
  std::vector<ThreadResult> results;
  results.reserve(threads_.size());
  for (const auto& each : threads_) results.push_back(each->result());
  return results;
}

Json LoadNode::stats(const Json& args) {
  const Arguments arguments("hlload-node stats", args, {});
  const auto lock = life_.lock();
  if (life_.running()) return {{"running", true}};
  life_.require_finished("stats");
  Json raw = raw_statistics(results(), life_.schedule().window_ns(), sample_ns_);
  raw["filled"] = filled_;
  raw["complete"] = !life_.stopped_early();
  raw["window_from_ns"] = life_.schedule().window_from_ns - realtime_to_monotonic_ns();
  for (const auto& [name, before] : {std::pair("adds_issued_total", before_.issued),
                                     std::pair("adds_acknowledged_total", before_.acknowledged)})
    raw[name] = raw[name].get<std::uint64_t>() + before;
  return raw;
}

}  // namespace turntable::shadowfax
