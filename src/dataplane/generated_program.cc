#include "dataplane/generated_program.h"

#include "dataplane/program_control.h"

namespace turntable::dataplane {

GeneratedProgram::GeneratedProgram(std::string_view name, std::string_view schema)
    : name_(name),
      schema_(schema),
      control_(std::make_unique<ProgramControl>(std::string(name), schema)) {}

GeneratedProgram::~GeneratedProgram() = default;

ControlPlane& GeneratedProgram::control() {
  return *control_;
}

void GeneratedProgram::add_table(const std::string& name, Table& table) {
  control_->add_table(name, table);
}

void GeneratedProgram::add_counter(const std::string& name, Counter& counter) {
  control_->add_counter(name, counter);
}

void GeneratedProgram::add_register(const std::string& name, RegisterArray& cells) {
  control_->add_register(name, cells);
}

}  // namespace turntable::dataplane
