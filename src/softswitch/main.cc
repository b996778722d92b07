// softswitch: runs a compiled P4 program on network interfaces; docs/architecture.md §5.
#include <charconv>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/data_path_thread.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "dataplane/packet_tracer.h"
#include "dataplane/port_numbers.h"
#include "dataplane/trace_text.h"
#include "node/control_server.h"
#include "softswitch/af_packet_port.h"
#include "softswitch/af_xdp_port.h"
#include "softswitch/captured_port.h"
#include "softswitch/event_loop.h"
#include "softswitch/pipeline.h"
#include "softswitch/switch_control.h"

namespace turntable::softswitch {
namespace {

// Every receive call needs kBatch free frames; the rest is what the traffic manager may hold.
constexpr std::size_t kMinFrames = 2 * kBatch;

struct Options {
  std::filesystem::path directory;
  std::string name = "softswitch";
  std::string program;
  std::uint32_t pipes = 1;
  std::vector<std::string> ports;  // NUMBER=INTERFACE
  std::vector<std::string> cpu_ports;
  std::string port_driver = "af_packet";
  std::size_t frames = 2048;
  int receive_buffer_bytes = kDefaultReceiveBufferBytes;
  std::uint64_t busy_poll_ns = kDefaultBusyPollNs;
  bool realtime = false;
  std::optional<std::string> trace;  // a filter
  bool trace_json = false;
  std::filesystem::path pcap_directory;  // empty: frames are not captured
};

struct PortArgument {
  std::uint16_t number;
  std::string interface;
};

PortArgument parse_port(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::uint16_t number = 0;
  const char* end = text.data() + std::min(equals, text.size());
  const auto parsed = std::from_chars(text.data(), end, number);
  if (equals == std::string::npos || parsed.ec != std::errc() || parsed.ptr != end ||
      equals + 1 == text.size()) {
    throw std::runtime_error("port \"" + text +
                             "\": expected NUMBER=INTERFACE, for instance 1=veth1");
  }
  return {number, text.substr(equals + 1)};
}

// Without a number: the one that it has on Tofino 1.
PortArgument parse_cpu_port(const std::string& text) {
  if (text.find('=') == std::string::npos && !text.empty()) return {dataplane::kCpuPort, text};
  return parse_port(text);
}

template <class Driver>
std::unique_ptr<Port> open_port(const Options& options, const PortArgument& port, bool is_cpu) {
  const int bytes = options.receive_buffer_bytes;
  if (options.pcap_directory.empty())
    return std::make_unique<Driver>(port.number, port.interface, is_cpu, bytes);
  return std::make_unique<CapturedPort<Driver>>(options.pcap_directory, port.number, port.interface,
                                                is_cpu, bytes);
}

PortTable open_ports(const Options& options) {
  // One state is for the ports of all pipes that there may be.
  PortTable ports(options.pipes == 1 ? dataplane::kPipes : options.pipes);
  const auto open = [&](const std::vector<std::string>& arguments, bool is_cpu) {
    for (const std::string& argument : arguments) {
      const PortArgument port = is_cpu ? parse_cpu_port(argument) : parse_port(argument);
      ports.add(options.port_driver == "af_xdp" ? open_port<AfXdpPort>(options, port, is_cpu)
                                                : open_port<AfPacketPort>(options, port, is_cpu));
    }
  };
  open(options.ports, false);
  open(options.cpu_ports, true);
  return ports;
}

void print_trace(const nlohmann::ordered_json& trace, bool as_json) {
  if (as_json) {
    std::cout << trace.dump() << std::endl;
  } else {
    std::cout << dataplane::trace_text(trace) << std::flush;
  }
}

// Runs until `shutdown` or a signal. Returns the exit status.
int run(const Options& options) {
  node::ControlServer server(options.directory, options.name);
  const auto program = options.trace
                           ? dataplane::load_traced_program(options.program, options.pipes)
                           : dataplane::load_program(options.program.c_str(), options.pipes);
  std::optional<dataplane::PacketTracer> tracer;
  if (options.trace) {
    tracer.emplace(*program, dataplane::TraceFilter::parse(*options.trace),
                   [&](const auto& trace) { print_trace(trace, options.trace_json); });
  }
  const PortTable ports = open_ports(options);
  FramePool pool(options.frames);
  Pipeline pipeline(*program, ports, pool);
  if (tracer) pipeline.trace_with(*tracer);
  EventLoop loop(ports, pool, pipeline);
  loop.set_busy_poll_ns(options.busy_poll_ns);
  SwitchControl control(*program, ports, pipeline, loop,
                        {.tracer = tracer ? &*tracer : nullptr,
                         .library = std::filesystem::absolute(options.program),
                         .pipes = options.pipes});
  control.serve(server);
  server.set_state("forwarding");

  int status = 0;
  std::thread pipeline_thread([&] {
    try {
      if (options.realtime && !use_realtime_priority()) {
        std::cerr << "softswitch: --realtime: the system does not allow SCHED_RR; the pipeline's "
                     "thread has its ordinary priority"
                  << std::endl;
      }
      loop.run();
    } catch (const std::exception& error) {
      std::cerr << "softswitch: the pipeline thread failed: " << error.what() << std::endl;
      status = 1;
      loop.tasks().close();
      server.request_shutdown();
    }
  });
  server.run();
  loop.stop();
  pipeline_thread.join();
  return status;
}

}  // namespace
}  // namespace turntable::softswitch

namespace {

int run_program(int argc, char** argv) {
  using namespace turntable::softswitch;
  Options options;
  turntable::ProgramOptions app("softswitch", "Runs a compiled P4 program on network interfaces");
  app.option("--directory", options.directory, "Run directory for the control socket").required();
  app.option("--name", options.name, "Node name").shows_default();
  app.option("--program", options.program, "Compiled program, lib/p4/NAME.so").required();
  std::string pipes = "1";
  app.option("--pipes", pipes,
             "Pipes of 128 ports with tables and registers of their own; 1: all ports share them")
      .one_of({"1", "2", "4"})
      .shows_default();
  app.option("--port", options.ports, "NUMBER=INTERFACE; repeatable").required();
  app.option("--cpu-port", options.cpu_ports,
             "[NUMBER=]INTERFACE of the control plane; without a number 64, as on Tofino 1");
  app.option("--port-driver", options.port_driver, "af_packet, or af_xdp: see docs/bench.md")
      .one_of({"af_packet", "af_xdp"})
      .shows_default();
  app.option("--frames", options.frames, "Preallocated frame buffers")
      .within(kMinFrames, 1U << 20U)
      .shows_default();
  app.option("--receive-buffer-bytes", options.receive_buffer_bytes,
             "Kernel receive queue per port")
      .within(1U << 16U, 1U << 30U)
      .shows_default();
  app.option("--busy-poll-ns", options.busy_poll_ns, "Polling before sleeping; 0: none")
      .shows_default();
  app.flag("--realtime", options.realtime,
           "Run the pipeline's thread before all ordinary ones, if the system allows it");
  std::string filter;
  const auto trace =
      app.option("--trace", filter,
                 "Print what happens to packets, by default to the first 100; FILTER chooses "
                 "them, for instance port=1,udp=1152,count=20 (docs/p4soft.md)")
          .optional_value("FILTER");
  app.flag("--trace-json", options.trace_json, "Print traces as JSON, one per line");
  app.option("--pcap-dir", options.pcap_directory,
             "Write what ports receive and send to INTERFACE_in.pcap and INTERFACE_out.pcap in "
             "this directory");
  if (const auto status = app.parse(argc, argv)) return *status;
  if (trace.given()) options.trace = filter;
  options.pipes = static_cast<std::uint32_t>(std::stoul(pipes));
  return run(options);
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main("softswitch", [&] { return run_program(argc, argv); });
}
