#include "p4runtime_server/pipeline_config.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "common/sha256.h"
#include "p4runtime_server/reconciliation.h"
#include "p4runtime_server/refusal.h"
#include "p4runtime_server/registered_programs.h"
#include "p4runtime_server/replication_entries.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using Set = p4::v1::SetForwardingPipelineConfigRequest;
using Get = p4::v1::GetForwardingPipelineConfigRequest;

constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kMostHash = 256;  // with what stands around it; what is longer is none

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
std::string hash_in(const std::string& whole) {
  if (whole.size() > kMostHash) return whole;
  std::string device_config = whole;
  const auto is_space = [](unsigned char each) { return std::isspace(each) != 0; };
  std::erase_if(device_config, is_space);
  for (char& each : device_config) each = static_cast<char>(std::tolower(each));
  return device_config;
}

bool is_hash(const std::string& text) {
  return text.size() == kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// No program is as short as a hash is, or of the same letters alone.
bool has_source(const p4::v1::ForwardingPipelineConfig& config) {
  const std::string hash = hash_in(config.p4_device_config());
  return !hash.empty() && !is_hash(hash) && is_source_text(config.p4_device_config());
}

void remember(RunningProgram& program, const p4::v1::ForwardingPipelineConfig& config) {
  program.set_cookie(config.has_cookie() ? std::optional(config.cookie().cookie()) : std::nullopt);
  if (has_source(config)) {
    program.set_source(config.p4_device_config());
  } else if (!hash_in(config.p4_device_config()).empty()) {
    program.set_source({});
  }
}

// A command that has to do with a library's file, whose path is not for clients.
Json call_for_library(bfrt_server::SwitchLink& link, const char* command, Json args) {
  try {
    return link.call(command, std::move(args));
  } catch (const CommandError& error) {
    if (error.code() == "state_conflict") throw not_reconcilable(error.what());
    if (error.code() != "bad_argument") throw;
    std::fprintf(stderr, "p4runtime-server: %s\n", error.what());
    throw Refusal(grpc::StatusCode::INTERNAL,
                  "softswitch cannot load the program's library; was it replaced just now? The "
                  "reason is on p4runtime-server's standard error");
  }
}

struct LibraryFacts {
  std::string program;
  config::P4Info info;
};

// As the library itself says, whatever is beside it.
LibraryFacts info_of(bfrt_server::SwitchLink& link, const std::filesystem::path& library,
                     const std::string& hash) {
  const Json found =
      call_for_library(link, "library_info", {{"library", library.string()}, {"sha256", hash}});
  LibraryFacts facts{found.at("program"), {}};
  if (!google::protobuf::TextFormat::ParseFromString(found.at("p4info"), &facts.info))
    throw std::runtime_error("the P4Info of " + library.string() + " cannot be read");
  return facts;
}

std::string what_is_expected(const std::string& device_config) {
  return "the device config has " + std::to_string(device_config.size()) +
         " bytes; expected the SHA-256, in hexadecimal, of a registered program's NAME.so "
         "(sha256sum), P4 source as UTF-8 text, or nothing: the program that runs. ";
}

Json command(const char* name, Json args = Json::object()) {
  return {{"command", name}, {"args", std::move(args)}};
}

// Members go after who names them; groups after entries, before members.
void clear_profiles(const ProgramInfo& info, Json& updates) {
  for (const config::ActionProfile& profile : info.document().action_profiles()) {
    for (const std::string& name : {info.selector_of(profile), info.on_switch(profile.preamble())})
      if (!name.empty()) updates.push_back({{"table", name}, {"op", "clear"}});
  }
}

// All as the program's start left it. No packet sees some of it done and some not; none of the
// commands depends on what is there, so that none fails after another.
void begin_anew(RunningProgram& program) {
  const ProgramInfo& info = program.info();
  Json updates = Json::array();
  for (const config::Table& table : info.document().tables()) {
    const std::string name = info.on_switch(table.preamble());
    if (!table.is_const_table() && !table.match_fields().empty())
      updates.push_back({{"table", name}, {"op", "reset"}});
    if (table.const_default_action_id() == 0)
      updates.push_back({{"table", name}, {"op", "reset_default"}});
  }
  for (const config::ValueSet& set : info.document().value_sets())
    updates.push_back({{"table", info.on_switch(set.preamble())}, {"op", "clear"}});
  clear_profiles(info, updates);
  program.link().call(
      "sequence", {{"commands",
                    {command("table_write", {{"updates", updates}}), command("register_clear"),
                     command("counter_clear"), command("meter_clear"), command("settings_reset"),
                     command("table_write", {{"updates", replication_clears()}})}}});
  program.forget_all();
}

}  // namespace

std::optional<std::string> PipelineConfig::source_of(const Request& request) const {
  const Request& meant = request.action() == Set::COMMIT && saved_ ? *saved_ : request;
  if (!has_source(meant.config())) return std::nullopt;
  return meant.config().p4_device_config();
}

std::optional<PipelineConfig::Library> PipelineConfig::verify(
    RunningProgram& program, const Request& request, const CompiledSource* compiled) const {
  if (!request.has_config()) throw invalid("the configuration is missing");
  const config::P4Info& given = request.config().p4info();
  const std::string& device_config = request.config().p4_device_config();
  if (compiled != nullptr) {
    if (compiled->source() != device_config) {
      throw Refusal(grpc::StatusCode::ABORTED,
                    "another configuration was saved while this one was compiled");
    }
    const std::string hash = sha256_of_file(compiled->library());
    config::P4Info info = info_of(program.link(), compiled->library(), hash).info;
    check_p4info("that was sent as P4 source", info, given);
    if (hash == program.library_hash()) return std::nullopt;
    return Library{compiled->library(), hash, std::move(info)};
  }
  const std::string hash = hash_in(device_config);
  if (hash.empty() || hash == program.library_hash()) {
    check_p4info(program.name() + ", which softswitch runs", program.info().document(), given);
    return std::nullopt;
  }
  if (has_source(request.config())) {
    throw invalid(what_is_expected(device_config) +
                  "P4 source is not compiled here: start p4runtime-server with --translator, or "
                  "compile it (`p4soft compile`) and put NAME.so and NAME.p4info.txtpb into the "
                  "directory of --programs");
  }
  if (!is_hash(hash)) throw invalid(what_is_expected(device_config) + "Machine code is not taken");
  const auto found = find_program(programs_, hash);
  if (!found) {
    throw invalid("no registered program has the hash " + hash +
                  (programs_.empty() ? "; start p4runtime-server with --programs"
                                     : "; those in its --programs directory are registered"));
  }
  LibraryFacts facts = info_of(program.link(), *found, hash);
  check_p4info(facts.program, facts.info, given);
  return Library{*found, hash, std::move(facts.info)};
}

void PipelineConfig::commit(RunningProgram& program, const Request& request,
                            const CompiledSource* compiled, const Replace& replace) {
  const auto library = verify(program, request, compiled);
  saved_.reset();
  if (!library) {
    begin_anew(program);
    remember(program, request.config());
    return;
  }
  call_for_library(program.link(), "program_load",
                   {{"library", library->path.string()}, {"sha256", library->hash}});
  remember(*replace(), request.config());
}

void PipelineConfig::reconcile(RunningProgram& program, const Request& request,
                               const CompiledSource* compiled, const Replace& replace) {
  const auto library = verify(program, request, compiled);
  if (!library) {
    saved_.reset();
    remember(program, request.config());
    return;
  }
  check_reconcilable(program, library->info);
  call_for_library(program.link(), "program_load",
                   {{"library", library->path.string()},
                    {"sha256", library->hash},
                    {"keep_state", true},
                    {"program_number", program.number()}});
  saved_.reset();
  const auto next = replace();
  next->take_over(program);
  remember(*next, request.config());
}

void PipelineConfig::set(RunningProgram& program, const Request& request,
                         const CompiledSource* compiled, const Replace& replace) {
  switch (request.action()) {
    case Set::VERIFY:
      verify(program, request, compiled);
      return;
    case Set::VERIFY_AND_SAVE:
      verify(program, request, compiled);
      saved_ = request;
      return;
    case Set::VERIFY_AND_COMMIT:
      return commit(program, request, compiled, replace);
    case Set::COMMIT:
      if (request.has_config())
        throw invalid("a configuration beside COMMIT, which is of the saved one; leave it out");
      if (!saved_) throw not_found("there is no saved configuration; VERIFY_AND_SAVE saves one");
      return commit(program, Request(*saved_), compiled, replace);
    case Set::RECONCILE_AND_COMMIT:
      return reconcile(program, request, compiled, replace);
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
    config.set_p4_device_config(program.source().empty() ? program.library_hash()
                                                         : program.source());
  if (const auto cookie = program.cookie()) config.mutable_cookie()->set_cookie(*cookie);
}

}  // namespace turntable::p4runtime_server
