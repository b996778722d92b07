// A port whose frames are written to two pcap files, too.
#pragma once

#include <filesystem>
#include <utility>

#include "common/clock.h"
#include "softswitch/pcap_file.h"
#include "softswitch/port.h"

namespace turntable::softswitch {

// `Driver` is a Port. DIRECTORY/INTERFACE_in.pcap has what the switch received,
// DIRECTORY/INTERFACE_out.pcap what it gave the kernel to send: frames that the kernel then would
// not take, which port_stats counts, are in it.
template <class Driver>
class CapturedPort : public Driver {
 public:
  // Throws std::system_error where a file cannot be made, and what Driver throws.
  template <class... Arguments>
  explicit CapturedPort(const std::filesystem::path& directory, Arguments&&... arguments)
      : Driver(std::forward<Arguments>(arguments)...),
        in_(directory / (this->interface() + "_in.pcap")),
        out_(directory / (this->interface() + "_out.pcap")) {}

  // These throw std::system_error, too, where a file cannot be written.
  std::size_t receive(std::span<Frame*> frames) override {
    const std::size_t received = Driver::receive(frames);
    write(in_, frames.first(received));
    return received;
  }
  void send(std::span<Frame* const> frames) override {
    write(out_, frames);
    Driver::send(frames);
  }

 private:
  static void write(PcapFile& file, std::span<Frame* const> frames) {
    if (frames.empty()) return;
    const std::int64_t now_ns = realtime_ns();
    for (const Frame* frame : frames)
      file.add(std::span(frame->packet.data, frame->packet.length), now_ns);
    file.flush();
  }

  PcapFile in_;
  PcapFile out_;
};

}  // namespace turntable::softswitch
