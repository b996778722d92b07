// Numbers on the command line. CLI11's own checks let "nan" pass and write limits with 300 digits.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sstream>
#include <string>

namespace turntable {

// For an option's `check`: a finite number from `least` to `most`.
inline CLI::Validator number_within(double least, double most) {
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

// Seconds of a lease or a deadline: up to 30 days.
inline CLI::Validator seconds_option() {
  return number_within(0.001, 30.0 * 24 * 3600);
}

}  // namespace turntable
