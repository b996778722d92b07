// kv-echo: answers every key-value request at once and rightly, from no store.
//
//   kv-echo --address 198.18.0.2 --udp-port 1152        prints "ready", serves until it is ended
//
// A GET is answered with the value that loaded stores hold, so that clients can check it.
#include <poll.h>

#include <array>
#include <iostream>

#include "common/program_options.h"
#include "common/run_main.h"
#include "farreach/kv/packet.h"
#include "farreach/kv/value.h"
#include "net/datagrams.h"
#include "net/udp.h"

namespace turntable::bench {
namespace {

constexpr std::size_t kClients = 1024;  // requests that may wait
constexpr std::uint16_t kPartition = 0;

// Writes the answer to `request` and returns its size.
std::size_t answer_to(const kv::Packet& request, std::span<std::uint8_t> out) {
  kv::Packet answer{.type = kv::PacketType::kPutResponse,
                    .key = request.key,
                    .request_id = request.request_id,
                    .stat = kv::kStatSuccess,
                    .node = kPartition};
  std::array<std::uint8_t, kv::kMaxValueBytes> value;
  if (request.type == kv::PacketType::kGetRequest) {
    kv::fill_value(value, workload::key_id_from_wire(request.key).value(), kv::kLoadedVersion);
    answer.type = kv::PacketType::kGetResponse;
    answer.value = value;
  }
  return kv::encode(answer, out);
}

[[noreturn]] void serve(const net::DatagramSettings& settings) {
  const auto datagrams = net::open_datagrams(settings);
  std::cout << "ready" << std::endl;
  pollfd polled{datagrams->fd(), POLLIN, 0};
  while (true) {
    ::poll(&polled, 1, -1);
    const int count = datagrams->receive();
    for (int i = 0; i < count; ++i) {
      const auto datagram = datagrams->at(static_cast<std::size_t>(i));
      kv::Packet request;
      if (kv::decode(datagram.bytes, request) != kv::DecodeStatus::kOk) continue;
      datagrams->add(answer_to(request, datagrams->buffer()), &datagram.from);
    }
    datagrams->flush([](std::uint32_t, int) {});  // a client asks again
  }
}

int run_program(int argc, char** argv) {
  std::string address, interface, kind = "sockets";
  std::uint16_t udp_port = 1152;
  turntable::ProgramOptions app("kv-echo", "Answers key-value requests from no store");
  app.option("--address", address, "IPv4 address to serve on").required();
  app.option("--udp-port", udp_port, "UDP port").shows_default();
  app.option("--datagrams", kind, net::kDatagramsHelp).shows_default();
  app.option("--interface", interface, net::kInterfaceHelp);
  if (const auto status = app.parse(argc, argv)) return *status;
  serve({.kind = net::datagram_kind(kind, interface),
         .interface = interface,
         .local = net::parse_ipv4("--address", address, udp_port),
         .queued = kClients});
}

}  // namespace
}  // namespace turntable::bench

int main(int argc, char** argv) {
  return turntable::run_main("kv-echo", [&] { return turntable::bench::run_program(argc, argv); });
}
