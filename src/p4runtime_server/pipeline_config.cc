#include "p4runtime_server/pipeline_config.h"

#include <google/protobuf/util/message_differencer.h>

#include <nlohmann/json.hpp>

#include "p4runtime_server/refusal.h"
#include "p4runtime_server/replication_entries.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using Set = p4::v1::SetForwardingPipelineConfigRequest;
using Get = p4::v1::GetForwardingPipelineConfigRequest;

void verify(const RunningProgram& program, const Set& request) {
  if (!request.has_config()) throw invalid("the configuration is missing");
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  if (differencer.Compare(program.info().document(), request.config().p4info())) return;
  throw invalid("softswitch runs program " + program.name() +
                ", whose P4Info is another; start it with the program that is wanted. First "
                "difference: " +
                difference.substr(0, difference.find('\n')));
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

void set_pipeline_config(RunningProgram& program, const Set& request) {
  switch (request.action()) {
    case Set::VERIFY:
      return verify(program, request);
    case Set::VERIFY_AND_COMMIT:
      verify(program, request);
      begin_anew(program);
      break;
    case Set::RECONCILE_AND_COMMIT:
      verify(program, request);
      break;
    case Set::VERIFY_AND_SAVE:
    case Set::COMMIT:
      throw not_supported("softswitch has one program; there is nothing to save for later");
    default:
      throw invalid("what to do with the configuration is not said");
  }
  if (request.config().has_cookie()) {
    program.set_cookie(request.config().cookie().cookie());
  } else {
    program.set_cookie(std::nullopt);
  }
}

void get_pipeline_config(const RunningProgram& program, const Get& request,
                         p4::v1::ForwardingPipelineConfig& config) {
  const auto type = request.response_type();
  if (type == Get::ALL || type == Get::P4INFO_AND_COOKIE)
    *config.mutable_p4info() = program.info().document();
  if (const auto cookie = program.cookie()) config.mutable_cookie()->set_cookie(*cookie);
}

}  // namespace turntable::p4runtime_server
