// fuzz_NAME CORPUS: gives the translated program NAME malformed frames, under the sanitizers.
//
// CORPUS/setup.jsonl has the control commands that fill the tables, one JSON line each as p4run
// takes them; CORPUS/frames.txt good frames, a line each: port, bytes in hex. From these it makes,
// always the same for one seed: every truncation, then random frames and random changes of good
// ones. A frame lies in a block of exactly its size and headroom, so that the sanitizers see every
// access outside. It ends with 0, or with the sanitizers' report and the frame at fault, to be
// added to frames.txt.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/command_error.h"
#include "dataplane/control.h"
#include "dataplane/memory_switch.h"
#include "dataplane/program.h"

extern "C" turntable::dataplane::Program* turntable_program_create();
// Of the sanitizers' runtime; clang-tidy does not find GCC's header that declares it.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace turntable::dataplane {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Input {
  std::uint16_t port = 0;
  Bytes frame;
};

// What the death callback prints.
const Input* current_input = nullptr;

void print_current_input() {
  if (current_input == nullptr) return;
  std::fprintf(stderr, "\nfuzz: the frame at fault, as a line of frames.txt:\n%u ",
               static_cast<unsigned>(current_input->port));
  for (const std::uint8_t byte : current_input->frame) std::fprintf(stderr, "%02x", byte);
  std::fprintf(stderr, "\n");
}

// --- The program under test ----------------------------------------------------------------------

// A frame in a block of its own: headroom, then the frame, and nothing behind it.
class Block {
 public:
  explicit Block(const Bytes& frame) : bytes_(new std::uint8_t[kHeadroom + frame.size()]) {
    std::copy(frame.begin(), frame.end(), bytes_.get() + kHeadroom);
    packet.data = bytes_.get() + kHeadroom;
    packet.length = static_cast<std::uint32_t>(frame.size());
    packet.headroom = kHeadroom;
  }

  Packet packet;

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
};

class Target {
 public:
  Target() : program_(turntable_program_create()), switch_(*program_) {}

  void execute(const nlohmann::json& command) {
    switch_.execute(command.at("command").get<std::string>(), command.at("args"));
  }

  void run(const Input& input) {
    current_input = &input;
    in_exact_blocks(input);
    through_switch(input);
    current_input = nullptr;
  }

 private:
  // Ingress, and egress for what goes there, each on its own block.
  void in_exact_blocks(const Input& input) {
    Block block(input.frame);
    block.packet.ingress_port = input.port;
    program_->ingress(block.packet);
    take_mirror_copy(block.packet);
    if (block.packet.resubmit) {
      block.packet.resubmitted = true;
      program_->ingress(block.packet);
    }
    if (block.packet.bypass_egress) return;
    egress({block.packet.data, block.packet.data + block.packet.length});
  }

  void egress(const Bytes& frame) {
    Block block(frame);
    block.packet.egress_port = 1;
    program_->egress(block.packet);
    take_mirror_copy(block.packet);
  }

  // The copy comes into egress as well, without a further copy.
  void take_mirror_copy(const Packet& packet) {
    if (!packet.mirrored || in_mirror_copy_) return;
    Bytes copy(kMaxFrame);
    copy.resize(write_mirror_copy(program_->mirror_copy(), packet, kMaxFrame, copy.data()));
    in_mirror_copy_ = true;
    egress(copy);
    in_mirror_copy_ = false;
  }

  void through_switch(const Input& input) {
    try {
      switch_.inject({input.port, std::string(input.frame.begin(), input.frame.end())});
    } catch (const CommandError&) {  // a frame that recirculates for ever
    }
  }

  std::unique_ptr<Program> program_;
  MemorySwitch switch_;
  bool in_mirror_copy_ = false;
};

// --- Malformed frames ----------------------------------------------------------------------------

class Mutator {
 public:
  Mutator(std::vector<Input> good, std::uint64_t seed) : good_(std::move(good)), random_(seed) {}

  Input next() {
    if (below(16) == 0) return noise();
    Input input = any();
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(input.frame);
    if (below(8) == 0) input.port = static_cast<std::uint16_t>(below(512));
    if (input.frame.size() > kMaxFrame) input.frame.resize(kMaxFrame);
    return input;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::uint8_t byte() { return static_cast<std::uint8_t>(random_()); }
  const Input& any() { return good_[below(good_.size())]; }

  Input noise() {
    Input input{static_cast<std::uint16_t>(below(512)),
                Bytes(below(below(4) == 0 ? kMaxFrame : 96))};
    for (std::uint8_t& place : input.frame) place = byte();
    return input;
  }

  void change(Bytes& frame) {
    constexpr std::uint8_t kEdges[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
    const std::size_t at = frame.empty() ? 0 : below(frame.size());
    if (frame.empty() || below(24) == 0) return lengthen(frame);
    switch (below(7)) {
      case 0:
        frame[at] = byte();
        break;
      case 1:
        frame[at] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 2:
        frame[at] = kEdges[below(std::size(kEdges))];
        break;
      case 3:  // a wrong length, as often as not
        frame[at] = byte();
        frame[(at + 1) % frame.size()] = kEdges[below(std::size(kEdges))];
        break;
      case 4:
        frame.resize(at);
        break;
      case 5:  // a part goes, or comes twice
        if (below(2) == 0) {
          frame.erase(frame.begin() + static_cast<std::ptrdiff_t>(at),
                      frame.begin() +
                          static_cast<std::ptrdiff_t>(std::min(frame.size(), at + 1 + below(16))));
        } else {
          const Bytes part(frame.begin() + static_cast<std::ptrdiff_t>(at),
                           frame.begin() + static_cast<std::ptrdiff_t>(
                                               std::min(frame.size(), at + 1 + below(16))));
          frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(at), part.begin(), part.end());
        }
        break;
      default: {  // the end of another frame
        const Bytes& other = any().frame;
        frame.resize(at);
        if (at < other.size()) {
          frame.insert(frame.end(), other.begin() + static_cast<std::ptrdiff_t>(at), other.end());
        }
      }
    }
  }

  void lengthen(Bytes& frame) {
    const std::size_t most = below(8) == 0 ? kMaxFrame : 200;
    frame.resize(frame.size() + below(most), byte());
  }

  std::vector<Input> good_;
  std::mt19937_64 random_;
};

// --- Corpus --------------------------------------------------------------------------------------

std::ifstream opened(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return file;
}

std::vector<Input> read_frames(const std::string& path) {
  std::vector<Input> frames;
  std::ifstream file = opened(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Input input;
    std::string hex;
    if (!(words >> input.port)) continue;
    words >> hex;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      input.frame.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    }
    frames.push_back(std::move(input));
  }
  if (frames.empty()) throw std::runtime_error(path + " has no frames");
  return frames;
}

int run(const std::string& corpus, std::uint64_t executions, std::uint64_t seed) {
  Target target;
  std::ifstream setup = opened(corpus + "/setup.jsonl");
  for (std::string line; std::getline(setup, line);) target.execute(nlohmann::json::parse(line));

  const std::vector<Input> good = read_frames(corpus + "/frames.txt");
  std::uint64_t done = 0;
  for (const Input& input : good) {
    for (std::size_t length = 0; length <= input.frame.size(); ++length, ++done) {
      target.run({input.port, Bytes(input.frame.begin(),
                                    input.frame.begin() + static_cast<std::ptrdiff_t>(length))});
    }
  }
  for (Mutator mutator(good, seed); done < executions; ++done) target.run(mutator.next());
  std::printf("%llu frames, no crash\n", static_cast<unsigned long long>(done));
  return 0;
}

}  // namespace
}  // namespace turntable::dataplane

int main(int argc, char** argv) {
  try {
    CLI::App app{"Gives a translated P4 program malformed frames."};
    std::string corpus;
    std::uint64_t executions = 40'000, seed = 1;
    app.add_option("CORPUS", corpus, "directory with setup.jsonl and frames.txt")->required();
    app.add_option("--executions", executions, "frames, truncations included")
        ->capture_default_str();
    app.add_option("--seed", seed)->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    __sanitizer_set_death_callback(turntable::dataplane::print_current_input);
    return turntable::dataplane::run(corpus, executions, seed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz: %s\n", error.what());
    return 1;
  }
}
