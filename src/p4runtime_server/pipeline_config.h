// The program as P4Runtime's forwarding-pipeline configuration. Its device config names the program
// by its hash (registered_programs.h), has its source (source_compiler.h), or is empty: the one
// that runs.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/running_program.h"
#include "p4runtime_server/source_compiler.h"

namespace turntable::p4runtime_server {

// What clients set. For whom ClientStreams lets write alone.
class PipelineConfig {
 public:
  using Request = p4::v1::SetForwardingPipelineConfigRequest;
  // Makes what this server knows of the program anew: softswitch runs another.
  using Replace = std::function<std::shared_ptr<RunningProgram>()>;

  // `programs`: the directory of registered programs; empty: there are none.
  explicit PipelineConfig(std::filesystem::path programs) : programs_(std::move(programs)) {}

  // What has to be compiled before set(); nothing: the configuration has no P4 source.
  std::optional<std::string> source_of(const Request& request) const;

  // `compiled`: the source; nullptr: none is compiled here. Throws Refusal: INVALID_ARGUMENT no
  // configuration, one of no known program, one whose P4Info is not that of its program, or state
  // that RECONCILE_AND_COMMIT cannot keep; NOT_FOUND there is nothing to commit; ABORTED the saved
  // one is not what was compiled any more.
  void set(RunningProgram& program, const Request& request, const CompiledSource* compiled,
           const Replace& replace);

  // Throws Refusal UNIMPLEMENTED between VERIFY_AND_SAVE and COMMIT: entries of a program that does
  // not run yet are not kept.
  void check_committed() const;
  void forget() { saved_.reset(); }

 private:
  struct Library {
    std::filesystem::path path;
    std::string hash;
    config::P4Info info;
  };
  // That of another program; nothing: the one that runs is meant.
  std::optional<Library> verify(RunningProgram& program, const Request& request,
                                const CompiledSource* compiled) const;
  void commit(RunningProgram& program, const Request& request, const CompiledSource* compiled,
              const Replace& replace);
  void reconcile(RunningProgram& program, const Request& request, const CompiledSource* compiled,
                 const Replace& replace);

  std::filesystem::path programs_;
  std::optional<Request> saved_;
};

void get_pipeline_config(const RunningProgram& program,
                         const p4::v1::GetForwardingPipelineConfigRequest& request,
                         p4::v1::ForwardingPipelineConfig& config);

}  // namespace turntable::p4runtime_server
