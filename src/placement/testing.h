// Machines of files, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "common/scratch_directory.h"
#include "placement/topology.h"

namespace turntable::testing {

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// A /sys with the processors of a machine: `sockets` x `cores` x `threads`. They are numbered as
// Linux on most servers does: the first threads of all cores, then the second ones.
class Machine {
 public:
  Machine(int sockets, int cores, int threads) {
    const int count = sockets * cores * threads;
    const int step = sockets * cores;
    write("cpu/online", count == 1 ? "0" : "0-" + std::to_string(count - 1));
    for (int number = 0; number < count; ++number) {
      const int socket = number % step / cores;
      CpuList siblings;
      for (int other = number % step; other < count; other += step) siblings.push_back(other);
      CpuList of_socket;
      for (int other = 0; other < count; ++other)
        if (other % step / cores == socket) of_socket.push_back(other);
      add_cpu(number, socket, number % step % cores, cpu_list_text(siblings),
              cpu_list_text(of_socket));
    }
    for (int socket = 0; socket < sockets; ++socket) {
      CpuList members;
      for (int number = 0; number < count; ++number)
        if (number % step / cores == socket) members.push_back(number);
      write("node/node" + std::to_string(socket) + "/cpulist", cpu_list_text(members));
    }
  }

  Topology topology(const std::string& allowed) const {
    return read_topology(directory_.path(), parse_cpu_list("allowed", allowed));
  }
  std::filesystem::path sys() const { return directory_.path(); }

 private:
  void write(const std::string& file, const std::string& text) {
    write_file(directory_.path() / "devices/system" / file, text + "\n");
  }

  void add_cpu(int number, int socket, int core, const std::string& siblings,
               const std::string& of_socket) {
    const std::string cpu = "cpu/cpu" + std::to_string(number);
    write(cpu + "/topology/physical_package_id", std::to_string(socket));
    write(cpu + "/topology/core_id", std::to_string(core));
    write(cpu + "/topology/thread_siblings_list", siblings);
    add_cache(cpu + "/cache/index0", "1", "Data", "32K", siblings);
    add_cache(cpu + "/cache/index1", "1", "Instruction", "64K", siblings);
    add_cache(cpu + "/cache/index2", "2", "Unified", "2M", siblings);
    add_cache(cpu + "/cache/index3", "3", "Unified", "8192K", of_socket);
  }

  void add_cache(const std::string& cache, const std::string& level, const std::string& type,
                 const std::string& size, const std::string& shared) {
    write(cache + "/level", level);
    write(cache + "/type", type);
    write(cache + "/size", size);
    write(cache + "/shared_cpu_list", shared);
  }

  ScratchDirectory directory_;
};

}  // namespace turntable::testing
