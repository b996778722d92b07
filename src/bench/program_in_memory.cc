// program-in-memory: how fast a compiled program is without a switch around it.
//
//   program-in-memory --program lib/bench/three_tables.so --setup commands.json --frames frames.txt
//
// Executes the control commands of `--setup` ([{"command", "args"}]), then gives the program the
// frames of `--frames` (hex, one a line) in turn, for as long as told: each is copied to a buffer,
// as if it had just arrived at port 1, passes ingress and, unless it bypasses it, egress. A mirror
// copy passes egress too. Of every frame, it or its copy is to leave; one that does not ends the
// measurement. Prints the frames that passed and the processor time they took.
#include <time.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "common/errno_error.h"
#include "common/run_main.h"
#include "dataplane/control.h"
#include "dataplane/program.h"
#include "dataplane/replication.h"

namespace turntable::bench {
namespace {

using dataplane::kHeadroom;
using dataplane::Packet;
using dataplane::Program;

constexpr std::size_t kBatch = 64;  // buffers that are filled in turn, as softswitch's are
constexpr std::uint16_t kIngressPort = 1;

struct Options {
  std::string program;
  std::string setup;
  std::string frames;
  double seconds = 0.5;
};

using FrameBytes = std::vector<std::uint8_t>;

std::vector<FrameBytes> read_frames(const std::string& path) {
  std::ifstream file(path);
  std::vector<FrameBytes> frames;
  for (std::string line; std::getline(file, line);) {
    FrameBytes bytes;
    for (std::size_t i = 0; i + 1 < line.size(); i += 2)
      bytes.push_back(static_cast<std::uint8_t>(std::stoul(line.substr(i, 2), nullptr, 16)));
    if (bytes.empty() || bytes.size() > dataplane::kMaxFrame)
      throw std::runtime_error(path + ": a frame of " + std::to_string(bytes.size()) + " bytes");
    frames.push_back(std::move(bytes));
  }
  if (frames.empty()) throw std::runtime_error(path + " has no frames");
  return frames;
}

void execute(Program& program, const std::string& path) {
  std::ifstream file(path);
  for (const nlohmann::json& request : nlohmann::json::parse(file))
    program.control().execute(request.at("command").get<std::string>(), request.at("args"));
}

std::int64_t processor_time_ns() {
  timespec time{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) throw errno_error("no thread clock");
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

class Runner {
 public:
  Runner(Program& program, std::vector<FrameBytes> frames)
      : program_(program), frames_(std::move(frames)), buffers_(kBatch) {}

  // Every frame at least once; returns how many passed.
  std::uint64_t run_for(std::int64_t duration_ns) {
    std::uint64_t passed = 0;
    const std::int64_t end = processor_time_ns() + duration_ns;
    do {
      for (std::size_t first = 0; first < frames_.size(); first += kBatch) {
        const std::size_t count = std::min(kBatch, frames_.size() - first);
        for (std::size_t i = 0; i < count; ++i) pass(frames_[first + i], buffers_[i]);
        passed += count;
      }
    } while (processor_time_ns() < end);
    return passed;
  }

 private:
  using Buffer = std::array<std::uint8_t, kHeadroom + dataplane::kMaxFrame + kHeadroom>;

  void pass(const FrameBytes& frame, Buffer& buffer) {
    Packet packet;
    packet.data = buffer.data() + kHeadroom;
    packet.length = static_cast<std::uint32_t>(frame.size());
    packet.headroom = kHeadroom;
    packet.tailroom = static_cast<std::uint32_t>(buffer.size() - kHeadroom - frame.size());
    packet.ingress_port = kIngressPort;
    packet.ingress_mac_tstamp_ns = ++clock_ns_;
    std::memcpy(packet.data, frame.data(), frame.size());
    program_.ingress(packet);
    if (!packet.has_ucast_egress_port) throw std::runtime_error("a frame was not forwarded");
    if (!packet.bypass_egress) egress(packet, packet.ucast_egress_port);
    if (packet.mirrored) return pass_copy(packet);
    if ((packet.drop_ctl & dataplane::kDropFrame) != 0)
      throw std::runtime_error("a frame was dropped");
  }

  // As if its session led to the port where the original came from.
  void pass_copy(const Packet& original) {
    Packet copy;
    copy.data = copy_.data() + kHeadroom;
    copy.headroom = kHeadroom;
    copy.length = dataplane::write_mirror_copy(program_.mirror_copy(), original,
                                               dataplane::kMaxFrame, copy.data);
    copy.tailroom = static_cast<std::uint32_t>(copy_.size() - kHeadroom - copy.length);
    egress(copy, kIngressPort);
    if ((copy.drop_ctl & dataplane::kDropFrame) != 0)
      throw std::runtime_error("a mirror copy was dropped");
  }

  void egress(Packet& packet, std::uint16_t port) {
    packet.egress_port = port;
    packet.enq_tstamp_ns = clock_ns_;
    program_.egress(packet);
  }

  Program& program_;
  std::vector<FrameBytes> frames_;
  std::vector<Buffer> buffers_;
  Buffer copy_{};
  std::uint64_t clock_ns_ = 0;
};

int measure(const Options& options) {
  const std::unique_ptr<Program> program = dataplane::load_program(options.program.c_str());
  execute(*program, options.setup);
  Runner runner(*program, read_frames(options.frames));
  const auto duration_ns = static_cast<std::int64_t>(options.seconds * 1e9);
  runner.run_for(duration_ns / 10);  // warms up
  const std::int64_t begin = processor_time_ns();
  const std::uint64_t frames = runner.run_for(duration_ns);
  const auto cpu_s = static_cast<double>(processor_time_ns() - begin) * 1e-9;
  std::cout << nlohmann::json{{"frames", frames}, {"cpu_s", cpu_s}}.dump() << std::endl;
  return 0;
}

int run_program(int argc, char** argv) {
  Options options;
  turntable::CommandLine app("program-in-memory", "Measures a compiled program in memory");
  app.add_option("--program", options.program, "NAME.so")->required();
  app.add_option("--setup", options.setup, "Control commands: JSON")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--frames", options.frames, "Frames: hex, one a line")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--seconds", options.seconds, "Processor time to measure for")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  return measure(options);
}

}  // namespace
}  // namespace turntable::bench

int main(int argc, char** argv) {
  return turntable::run_main("program-in-memory",
                             [&] { return turntable::bench::run_program(argc, argv); });
}
