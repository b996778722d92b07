#include "p4runtime_server/pipeline_config.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string>

#include "p4runtime_server/refusal.h"
#include "p4runtime_server/registered_programs.h"
#include "p4runtime_server/replication_entries.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using Set = p4::v1::SetForwardingPipelineConfigRequest;
using Get = p4::v1::GetForwardingPipelineConfigRequest;

constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kMostDeviceConfig = 256;  // what is longer is no hash

void check_p4info(const std::string& program, const config::P4Info& wanted,
                  const config::P4Info& given) {
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  if (differencer.Compare(wanted, given)) return;
  throw invalid("the P4Info is not that of program " + program +
                ". First difference: " + difference.substr(0, difference.find('\n')));
}

// In lower case, without what stands around it.
std::string hash_in(std::string device_config) {
  const auto is_space = [](unsigned char each) { return std::isspace(each) != 0; };
  std::erase_if(device_config, is_space);
  for (char& each : device_config) each = static_cast<char>(std::tolower(each));
  return device_config;
}

bool is_hash(const std::string& text) {
  return text.size() == kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void set_cookie(RunningProgram& program, const Set& request) {
  program.set_cookie(request.config().has_cookie()
                         ? std::optional(request.config().cookie().cookie())
                         : std::nullopt);
}

// Tables as the program's start left them, but for entries that it had from the start and that are
// no constants.
void begin_anew(RunningProgram& program) {
  const ProgramInfo& info = program.info();
  Json updates = Json::array();
  for (const config::Table& table : info.document().tables()) {
    const std::string name = info.on_switch(table.preamble());
    if (!table.is_const_table() && !table.match_fields().empty())
      updates.push_back({{"table", name}, {"op", "clear"}});
    if (table.const_default_action_id() == 0 && table.implementation_id() == 0)
      updates.push_back({{"table", name}, {"op", "reset_default"}});
  }
  for (const config::ValueSet& set : info.document().value_sets())
    updates.push_back({{"table", info.on_switch(set.preamble())}, {"op", "clear"}});
  program.link().call("table_write", {{"updates", updates}});
  // Members go after who names them; groups after entries, before members.
  for (const config::ActionProfile& profile : info.document().action_profiles()) {
    for (const std::string& name :
         {info.selector_of(profile), info.on_switch(profile.preamble())}) {
      if (name.empty()) continue;
      Json removed = Json::array();
      const Json found = program.link().call("table_read", {{"table", name}}).at("entries");
      for (const Json& entry : found)
        removed.push_back({{"table", name}, {"op", "delete"}, {"key", entry.at("key")}});
      if (!removed.empty()) program.link().call("table_write", {{"updates", removed}});
    }
  }
  program.link().call("register_clear", Json::object());
  program.link().call("counter_clear", Json::object());
  program.link().call("meter_clear", Json::object());
  clear_replication(program);
  program.forget_all();
}

}  // namespace

std::optional<PipelineConfig::Library> PipelineConfig::verify(const RunningProgram& program,
                                                              const Request& request) const {
  if (!request.has_config()) throw invalid("the configuration is missing");
  const config::P4Info& given = request.config().p4info();
  const std::string& device_config = request.config().p4_device_config();
  const std::string hash = hash_in(device_config.substr(0, kMostDeviceConfig));
  if (hash.empty() || hash == program.library_hash()) {
    check_p4info(program.name() + ", which softswitch runs", program.info().document(), given);
    return std::nullopt;
  }
  if (!is_hash(hash)) {
    throw invalid("the device config has " + std::to_string(device_config.size()) +
                  " bytes; expected the SHA-256, in hexadecimal, of a registered program's NAME.so "
                  "(sha256sum), or nothing: the program that runs. P4 source is not compiled here: "
                  "compile it (docs/p4soft.md), put NAME.so and NAME.p4info.txtpb into the "
                  "directory of --programs");
  }
  const auto found = find_program(programs_, hash);
  if (!found) {
    throw invalid("no registered program has the hash " + hash +
                  (programs_.empty() ? "; start p4runtime-server with --programs"
                                     : "; those of " + programs_.string() + " are registered"));
  }
  check_p4info(found->library.stem().string(), found->info, given);
  return Library{found->library, hash};
}

void PipelineConfig::commit(RunningProgram& program, const Request& request,
                            const Replace& replace) {
  const auto library = verify(program, request);
  saved_.reset();
  if (!library) {
    begin_anew(program);
    set_cookie(program, request);
    return;
  }
  program.link().call("program_load",
                      {{"library", library->path.string()}, {"sha256", library->hash}});
  set_cookie(*replace(), request);
}

void PipelineConfig::reconcile(RunningProgram& program, const Request& request) {
  if (verify(program, request)) {
    throw invalid(
        "softswitch runs another program, whose entries would be lost; use VERIFY_AND_COMMIT");
  }
  saved_.reset();
  set_cookie(program, request);
}

void PipelineConfig::set(RunningProgram& program, const Request& request, const Replace& replace) {
  switch (request.action()) {
    case Set::VERIFY:
      verify(program, request);
      return;
    case Set::VERIFY_AND_SAVE:
      verify(program, request);
      saved_ = request;
      return;
    case Set::VERIFY_AND_COMMIT:
      return commit(program, request, replace);
    case Set::COMMIT:
      if (request.has_config())
        throw invalid("a configuration beside COMMIT, which is of the saved one; leave it out");
      if (!saved_) throw not_found("there is no saved configuration; VERIFY_AND_SAVE saves one");
      return commit(program, Request(*saved_), replace);
    case Set::RECONCILE_AND_COMMIT:
      return reconcile(program, request);
    default:
      throw invalid("what to do with the configuration is not said");
  }
}

void PipelineConfig::check_committed() const {
  if (!saved_) return;
  throw not_supported(
      "a configuration is saved and not committed; what is written between is not kept here. "
      "COMMIT it first");
}

void get_pipeline_config(const RunningProgram& program, const Get& request,
                         p4::v1::ForwardingPipelineConfig& config) {
  const auto type = request.response_type();
  if (type == Get::ALL || type == Get::P4INFO_AND_COOKIE)
    *config.mutable_p4info() = program.info().document();
  if (type == Get::ALL || type == Get::DEVICE_CONFIG_AND_COOKIE)
    config.set_p4_device_config(program.library_hash());
  if (const auto cookie = program.cookie()) config.mutable_cookie()->set_cookie(*cookie);
}

}  // namespace turntable::p4runtime_server
