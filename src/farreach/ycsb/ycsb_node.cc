#include "farreach/ycsb/ycsb_node.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "common/command_error.h"
#include "node/arguments.h"
#include "node/log_tail.h"

namespace turntable::ycsb {
namespace {

using Json = YcsbNode::Json;

constexpr double kLongestS = 24 * 3600;
constexpr const char *kLog = "log", *kStatistics = "json";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Json YcsbNode::load(const Json& args) {
  const node::Arguments arguments("ycsbclient load", args, {"arguments", "deadline_s"});
  const auto deadline = Deadline::after_seconds(arguments.number("deadline_s", 0, kLongestS));
  await(*begin(Phase::kLoad, arguments.array("arguments")), Phase::kLoad, deadline);
  return Json::object();
}

Json YcsbNode::start(const Json& args) {
  const node::Arguments arguments("ycsbclient start", args, {"arguments"});
  begin(Phase::kRun, arguments.array("arguments"));
  return Json::object();
}

Json YcsbNode::wait(const Json& args) {
  const node::Arguments arguments("ycsbclient wait", args, {"deadline_s"});
  const auto deadline = Deadline::after_seconds(arguments.number("deadline_s", 0, kLongestS));
  await(*running(), Phase::kRun, deadline);
  return Json::object();
}

Json YcsbNode::stats(const Json& args) {
  const node::Arguments arguments("ycsbclient stats", args, {});
  return {{"load", left_by(Phase::kLoad)}, {"run", left_by(Phase::kRun)}};
}

Json YcsbNode::stop(const Json& args) {
  const node::Arguments arguments("ycsbclient stop", args, {});
  cancel();
  return Json::object();
}

void YcsbNode::cancel() {
  const std::lock_guard lock(mutex_);
  if (process_) process_->stop();
}

std::shared_ptr<YcsbProcess> YcsbNode::begin(Phase phase, const Json& arguments) {
  std::vector<std::string> argv{"java", "-cp", settings_.class_path, "site.ycsb.Client",
                                phase == Phase::kLoad ? "-load" : "-t"};
  for (const Json& argument : arguments) {
    if (!argument.is_string()) {
      throw bad_argument("ycsbclient: \"arguments\" has " + argument.dump() + "; expected texts");
    }
    argv.push_back(argument.get<std::string>());
  }
  argv.insert(argv.end(), {"-p", "kv.statistics=" + file(phase, kStatistics).native()});
  if (!settings_.secret.empty()) argv.insert(argv.end(), {"-p", "kv.secret=/dev/stdin"});
  const std::lock_guard lock(mutex_);
  process_.reset();  // one that still runs ends
  // What is left of an iteration before is not this one's.
  std::filesystem::remove(file(phase, kStatistics));
  process_ = std::make_shared<YcsbProcess>(std::move(argv), file(phase, kLog), settings_.secret);
  return process_;
}

void YcsbNode::await(YcsbProcess& process, Phase phase, Deadline deadline) {
  const auto status = process.wait(deadline);
  const std::string log = "; " + file(phase, kLog).native() + " ends with\n";
  if (!status) {
    throw CommandError(
        "timeout", "ycsbclient: YCSB has not ended" + log + node::log_tail(file(phase, kLog), 0));
  }
  if (*status != 0 || !std::filesystem::exists(file(phase, kStatistics))) {
    throw CommandError("internal", "ycsbclient: YCSB ended with status " + std::to_string(*status) +
                                       log + node::log_tail(file(phase, kLog), 0));
  }
}

std::shared_ptr<YcsbProcess> YcsbNode::running() {
  const std::lock_guard lock(mutex_);
  if (!process_) throw CommandError("wrong_state", "ycsbclient wait: nothing runs; send `start`");
  return process_;
}

std::filesystem::path YcsbNode::file(Phase phase, const char* suffix) const {
  const char* of = phase == Phase::kLoad ? "load" : "run";
  return settings_.directory / (settings_.name + "-" + of + "." + suffix);
}

// Null: the phase has not ended in order.
Json YcsbNode::left_by(Phase phase) const {
  const Json statistics =
      Json::parse(text_of(file(phase, kStatistics)), nullptr, /*allow_exceptions=*/false);
  if (statistics.is_discarded()) return nullptr;
  return {{"said", text_of(file(phase, kLog))}, {"statistics", statistics}};
}

}  // namespace turntable::ycsb
