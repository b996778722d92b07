#include "dataplane/program_pipes.h"

#include <nlohmann/json.hpp>

namespace turntable::dataplane {
namespace {

std::vector<ControlPlane*> controls_of(const std::vector<std::unique_ptr<Program>>& pipes) {
  std::vector<ControlPlane*> controls;
  controls.reserve(pipes.size());
  for (const auto& pipe : pipes) controls.push_back(&pipe->control());
  return controls;
}

}  // namespace

ProgramPipes::ProgramPipes(std::vector<std::unique_ptr<Program>> pipes)
    : pipes_(std::move(pipes)),
      last_(pipes_.front().get()),
      has_trace_(last_->trace() != nullptr),
      control_(controls_of(pipes_)) {
  for (std::size_t pipe = 0; pipe < of_pipe_.size(); ++pipe)
    of_pipe_[pipe] = pipes_[pipe % pipes_.size()].get();
}

void ProgramPipes::Trace::begin() {
  for (const auto& pipe : program_.pipes_) pipe->trace()->begin();
}

nlohmann::ordered_json ProgramPipes::Trace::take() {
  nlohmann::ordered_json events;
  for (const auto& pipe : program_.pipes_) {
    nlohmann::ordered_json of_pipe = pipe->trace()->take();
    if (pipe.get() == program_.last_) events = std::move(of_pipe);
  }
  return events;
}

}  // namespace turntable::dataplane
