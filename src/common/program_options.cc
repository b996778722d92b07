#include "common/program_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "common/command_line.h"

namespace turntable {
namespace {

constexpr int kWrongUsage = 2;  // instead of CLI11's own statuses, which say nothing to anybody

// CLI11's own checks let "nan" pass and write limits with 300 digits.
CLI::Validator number_within(double least, double most) {
  const auto check = [least, most](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && *end == '\0';
    if (is_number && value >= least && value <= most) return std::string();
    std::ostringstream message;
    message.precision(10);
    message << text << "; expected a number from " << least << " to " << most;
    return message.str();
  };
  return {check, ""};
}

}  // namespace

using Option = ProgramOptions::Option;

Option Option::required() {
  return Option(option_->required());
}

Option Option::shows_default() {
  return Option(option_->capture_default_str());
}

Option Option::needs(Option other) {
  return Option(option_->needs(other.option_));
}

Option Option::excludes(Option other) {
  return Option(option_->excludes(other.option_));
}

Option Option::within(double least, double most) {
  return Option(option_->check(number_within(least, most)));
}

Option Option::seconds() {
  return within(0.001, 30.0 * 24 * 3600);
}

Option Option::one_of(const std::vector<std::string>& words) {
  return Option(option_->check(CLI::IsMember(words)));
}

Option Option::comma_separated() {
  return Option(option_->delimiter(','));
}

Option Option::optional_value(const std::string& name) {
  return Option(option_->expected(0, 1)->type_name(name));
}

bool Option::given() const {
  return option_->count() > 0;
}

ProgramOptions::ProgramOptions(const std::string& program, const std::string& purpose)
    : app_(std::make_unique<CommandLine>(program, purpose)) {}

ProgramOptions::~ProgramOptions() = default;

Option ProgramOptions::flag(const std::string& name, bool& value, const std::string& help) {
  return Option(app_->add_flag(name, value, help));
}

template <typename Value>
Option ProgramOptions::option(const std::string& name, Value& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}

template <typename Value>
Option ProgramOptions::option(const std::string& name,
                              const std::function<void(const Value&)>& take,
                              const std::string& help) {
  return Option(app_->add_option_function<Value>(name, take, help));
}

std::optional<int> ProgramOptions::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == EXIT_SUCCESS ? EXIT_SUCCESS : kWrongUsage;
  }
  return std::nullopt;
}

using Text = const std::string&;
template Option ProgramOptions::option(Text, std::string&, Text);
template Option ProgramOptions::option(Text, std::filesystem::path&, Text);
template Option ProgramOptions::option(Text, double&, Text);
template Option ProgramOptions::option(Text, int&, Text);
template Option ProgramOptions::option(Text, std::uint16_t&, Text);
template Option ProgramOptions::option(Text, std::uint32_t&, Text);
template Option ProgramOptions::option(Text, std::uint64_t&, Text);
template Option ProgramOptions::option(Text, std::int64_t&, Text);
template Option ProgramOptions::option(Text, std::optional<double>&, Text);
template Option ProgramOptions::option(Text, std::optional<std::string>&, Text);
template Option ProgramOptions::option(Text, std::optional<std::uint64_t>&, Text);
template Option ProgramOptions::option(Text, std::vector<std::string>&, Text);
template Option ProgramOptions::option(Text, std::vector<std::uint64_t>&, Text);
template Option ProgramOptions::option(Text, std::vector<double>&, Text);
template Option ProgramOptions::option(Text, const std::function<void(const std::string&)>&, Text);
template Option ProgramOptions::option(Text, const std::function<void(const double&)>&, Text);
template Option ProgramOptions::option(Text, const std::function<void(const std::int64_t&)>&, Text);
template Option ProgramOptions::option(Text, const std::function<void(const std::uint64_t&)>&,
                                       Text);

}  // namespace turntable
