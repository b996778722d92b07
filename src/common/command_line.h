// A program's options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

namespace turntable {

// Messages about wrong options begin with the program's name, as its other messages do.
class CommandLine : public CLI::App {
 public:
  CommandLine(std::string program, std::string description)
      : CLI::App(std::move(description), std::move(program)) {
    failure_message([](const CLI::App* app, const CLI::Error& error) {
      const std::string& name = app->get_name();
      return name + ": " + error.what() + "\nRun " + name + " --help for more information.\n";
    });
  }
};

}  // namespace turntable
