// Processor time of processes, groups and the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace turntable::swan {

// Cumulative. The kernel knows the total to the nanosecond; how it is divided between user and
// system often to ticks only.
struct CpuTimes {
  std::int64_t total_ns = 0;
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;

  CpuTimes& operator+=(const CpuTimes& other);
};

// What was used between two readings: user and system add up to the total.
CpuTimes used_between(const CpuTimes& from, const CpuTimes& until);

// Of all threads of a process, those that have ended too; zero when it is gone. `proc`: another
// directory in tests.
CpuTimes process_times(pid_t pid, const std::filesystem::path& proc = "/proc");

// As process_times(), and of its children that have ended and that it has waited for, with theirs.
// In ticks, but for its own threads. A child whose end its parent ignores (SIGCHLD) is in no
// process's time.
CpuTimes family_times(pid_t pid, const std::filesystem::path& proc = "/proc");

// Of a control group of either version that counts; empty when it does not.
std::optional<CpuTimes> group_times(const std::filesystem::path& group);

// Of all processors of the machine together, but for idle and stolen time.
std::int64_t busy_ns(const std::filesystem::path& proc = "/proc");
// The time that the host of a virtual machine gave to others.
std::int64_t stolen_ns(const std::filesystem::path& proc = "/proc");

}  // namespace turntable::swan
