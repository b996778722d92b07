// What mcload does with its command line.
#pragma once

namespace turntable::mcload {

// It measured, and connections were closed or never answered, or requests were answered with an
// error. Standard error says how many.
inline constexpr int kFaultyStatus = 3;  // 1 is an error, 2 wrong options

// The program's exit status. Throws std::exception with a message for standard error.
int run_command_line(int argc, char** argv);

}  // namespace turntable::mcload
