// A file of captured frames, as tcpdump and Wireshark read it: pcap with nanoseconds, Ethernet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "common/unique_fd.h"

namespace turntable::softswitch {

// One thread. Frames are kept until flush(), which makes them readable by others.
class PcapFile {
 public:
  // Replaces a file of that name. Throws std::system_error that names it.
  explicit PcapFile(const std::filesystem::path& path);

  // realtime_ns: since 1970.
  void add(std::span<const std::uint8_t> frame, std::int64_t realtime_ns);

  // Throws std::system_error that names the file, which is incomplete then.
  void flush();

 private:
  std::filesystem::path path_;
  UniqueFd file_;
  std::string pending_;
};

}  // namespace turntable::softswitch
