// The control commands of the switch (docs/architecture.md §5): those of the program, and the
// switch's own.
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/schedstat.h"
#include "dataplane/fixed_tables.h"
#include "dataplane/program.h"
#include "node/control_server.h"
#include "softswitch/digest_waits.h"
#include "softswitch/event_loop.h"
#include "softswitch/pipeline.h"
#include "softswitch/port.h"
#include "softswitch/program_libraries.h"

namespace turntable::softswitch {

// Every command runs on the pipeline thread, between two batches: a packet sees all of a change or
// nothing. Only digest_wait waits, and only program_load reads files, on their connection's thread.
class SwitchControl {
 public:
  struct Options {
    dataplane::PacketTracer* tracer = nullptr;  // nullptr: the switch does not trace
    std::string library;                        // the program's file, which is told
    std::uint32_t pipes = 1;                    // of the program, and of those loaded later
  };
  SwitchControl(dataplane::Program& program, const PortTable& ports, Pipeline& pipeline,
                EventLoop& loop, Options options);

  // Registers the commands, before the loop runs; this object has to outlive server.run().
  void serve(node::ControlServer& server);

 private:
  using Json = nlohmann::json;

  Json on_program(const std::string& command, const Json& args);
  // The first that fails ends them; what those before it did stays.
  Json in_sequence(const Json& args);
  void check_command(const std::string& place, const Json& command) const;
  // Throws CommandError "program_changed" where "program_number" is of another program.
  void check_program(const Json& args) const;
  ProgramLibraries::Loaded load_library(const std::string& command, const Json& args,
                                        std::uint32_t pipes);
  Json library_info(const Json& args);
  Json program_load(const Json& args);
  Json trace(const std::string& command, const Json& args);
  Json digest_wait(const Json& args);
  Json tm_clear();
  Json port_stats();
  Json port_stats_clear(const Json& args);
  Json port_enable(const Json& args);
  Json settings(const Json& args);
  Json info();
  Json pipeline_thread();
  Json pipeline_thread_clear();

  // The pipeline thread's.
  dataplane::Program* program_;
  std::string library_;  // its file
  std::string library_sha256_;
  std::uint64_t program_number_ = 1;  // counts the programs since the start
  std::uint32_t pipes_;

  std::mutex loading_;
  ProgramLibraries libraries_;
  std::unique_ptr<dataplane::Program> loaded_;  // by program_load
  const PortTable& ports_;
  Pipeline& pipeline_;
  EventLoop& loop_;
  dataplane::PacketTracer* tracer_;
  dataplane::FixedTables fixed_tables_;
  DigestWaits digest_waits_;
  // Where the counts of `pipeline_thread` begin.
  std::int64_t counted_from_ns_;
  std::optional<SchedulingTimes> scheduling_before_;
};

}  // namespace turntable::softswitch
