// The arguments of a program. Behind it is CLI11, in one file: including it costs every program
// that does ten seconds of compilation.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace turntable {

class ProgramOptions {
 public:
  // One option; refers to its ProgramOptions.
  class Option {
   public:
    explicit Option(CLI::Option* option) : option_(option) {}

    Option required();
    Option shows_default();  // --help says the value that the variable has now
    Option needs(Option other);
    Option excludes(Option other);
    Option within(double least, double most);  // a finite number
    Option seconds();                          // of a lease or a deadline: up to 30 days
    Option one_of(const std::vector<std::string>& words);
    Option comma_separated();
    Option optional_value(const std::string& name);  // may stand without its value
    bool given() const;

   private:
    CLI::Option* option_;
  };

  // Messages about wrong options begin with the program's name.
  ProgramOptions(const std::string& program, const std::string& purpose);
  ~ProgramOptions();
  ProgramOptions(const ProgramOptions&) = delete;
  ProgramOptions& operator=(const ProgramOptions&) = delete;

  Option flag(const std::string& name, bool& value, const std::string& help);

  // Values: text, path, numbers, lists and optional ones; program_options.cc says which.
  template <typename Value>
  Option option(const std::string& name, Value& value, const std::string& help);
  template <typename Value>
  Option option(const std::string& name, const std::function<void(const Value&)>& take,
                const std::string& help);

  // The program's exit status when it has nothing more to do: --help was asked for (0), or an
  // argument is wrong. Both have been answered then.
  std::optional<int> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace turntable
