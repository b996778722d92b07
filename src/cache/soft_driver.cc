#include "cache/soft_driver.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <stdexcept>

#include "common/command_error.h"
#include "common/errno_error.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23  // since Linux 4.20
#endif

namespace turntable::cache {
namespace {

constexpr std::chrono::seconds kCallDeadline{10};
constexpr int kBufferBytes = 8 << 20;
constexpr int kFramesPerWakeUp = 256;  // then others have their turn

UniqueFd open_cpu_port(const std::string& interface) {
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index == 0) {
    throw std::runtime_error("CPU port: there is no interface \"" + interface +
                             "\" in this network namespace; `ip link` shows them");
  }
  UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) throw errno_error("cannot create a packet socket (it needs CAP_NET_RAW)");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes, sizeof(kBufferBytes));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kBufferBytes, sizeof(kBufferBytes));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(kControlEtherType);
  address.sll_ifindex = static_cast<int>(index);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    throw errno_error("cannot bind a packet socket to interface " + interface);
  }
  return socket;
}

}  // namespace

SoftDriver::SoftDriver(EventLoop& loop, std::filesystem::path run_directory,
                       std::string switch_name, const std::string& interface)
    : loop_(loop),
      run_directory_(std::move(run_directory)),
      switch_name_(std::move(switch_name)),
      cpu_port_(open_cpu_port(interface)) {
  loop_.watch(cpu_port_.get(), POLLIN, [this](short) { receive(); });
}

SoftDriver::~SoftDriver() {
  loop_.unwatch(cpu_port_.get());
}

// A client is out of step after an exception that is not the node's own answer, and when the switch
// has been started again: the next call opens a new one.
Driver::Json SoftDriver::call(const std::string& command, const Json& args) {
  std::unique_ptr<node::ControlClient> client = std::move(client_);
  if (!client) client = std::make_unique<node::ControlClient>(run_directory_, switch_name_);
  node::ControlClient::CallOptions options;
  options.deadline = Deadline::after(kCallDeadline);
  Json answer = client->request(command, args, options);
  client_ = std::move(client);
  if (answer["ok"].get<bool>()) return std::move(answer["result"]);
  throw CommandError(answer["error"]["code"], answer["error"]["message"]);
}

void SoftDriver::write_tables(const Json& updates) {
  call("table_write", {{"updates", updates}});
}

Driver::Json SoftDriver::read_table(const std::string& table) {
  return call("table_read", {{"table", table}}).at("entries");
}

std::vector<std::uint64_t> SoftDriver::read_register(const std::string& name, std::uint32_t first,
                                                     std::uint32_t count) {
  return call("register_read", {{"table", name}, {"first", first}, {"count", count}}).at("values");
}

void SoftDriver::write_register(const std::string& name, std::uint32_t first,
                                const std::vector<std::uint64_t>& values) {
  call("register_write", {{"table", name}, {"first", first}, {"values", values}});
}

void SoftDriver::clear_register(const std::string& name) {
  call("register_clear", {{"table", name}});
}

void SoftDriver::clear_registers() {
  call("register_clear", Json::object());
}

std::vector<std::uint64_t> SoftDriver::read_counter(const std::string& name) {
  const Json answer = call("counter_read", {{"table", name}});
  std::vector<std::uint64_t> packets;
  for (const Json& cell : answer.at("counters")) {
    packets.push_back(cell.at("$COUNTER_SPEC_PKTS"));
  }
  return packets;
}

// A full socket buffer is a lost frame like any other: it is sent again when no answer comes.
void SoftDriver::send(const ControlFrame& frame) {
  const ControlFrameBytes bytes = encode(frame);
  ::send(cpu_port_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
}

void SoftDriver::receive() {
  std::array<std::uint8_t, 2048> buffer;
  for (int frames = 0; frames < kFramesPerWakeUp; ++frames) {
    const ssize_t size = ::recv(cpu_port_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0) return;
    const auto bytes = std::span(buffer).first(static_cast<std::size_t>(size));
    if (const auto frame = decode_control_frame(bytes)) received(*frame);
  }
}

}  // namespace turntable::cache
