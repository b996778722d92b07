// A program with a state of its own in each pipe, as on the ASIC: so many instances of it, each
// with its tables, registers, counters, meters and random numbers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/pipes_control.h"
#include "dataplane/port_numbers.h"
#include "dataplane/program.h"
#include "dataplane/program_trace.h"

namespace turntable::dataplane {

// Ingress runs in the pipe of the ingress port, egress in that of the egress port. Where there are
// fewer pipes than ports have numbers for, they go on from the first.
class ProgramPipes final : public Program {
 public:
  // Two or more of one program, as they begin.
  explicit ProgramPipes(std::vector<std::unique_ptr<Program>> pipes);

  std::string_view name() const override { return pipes_.front()->name(); }
  std::string_view bfrt_json() const override { return pipes_.front()->bfrt_json(); }
  ControlPlane& control() override { return control_; }

  void ingress(Packet& packet) override {
    last_ = of_port(packet.ingress_port);
    last_->ingress(packet);
  }
  void egress(Packet& packet) override {
    last_ = of_port(packet.egress_port);
    last_->egress(packet);
  }
  const MirrorCopy& mirror_copy() const override { return last_->mirror_copy(); }
  ProgramTrace* trace() noexcept override { return has_trace_ ? &trace_ : nullptr; }

 private:
  // Nobody knows yet in which pipe the packet runs: all record.
  class Trace final : public ProgramTrace {
   public:
    explicit Trace(ProgramPipes& program) : program_(program) {}
    void begin() override;
    nlohmann::ordered_json take() override;

   private:
    ProgramPipes& program_;
  };

  Program* of_port(std::uint16_t port) const { return of_pipe_[port / kPortsPerPipe % kPipes]; }

  std::vector<std::unique_ptr<Program>> pipes_;
  std::array<Program*, kPipes> of_pipe_;
  Program* last_;  // where the last packet ran
  bool has_trace_;
  Trace trace_{*this};
  PipesControl control_;
};

}  // namespace turntable::dataplane
