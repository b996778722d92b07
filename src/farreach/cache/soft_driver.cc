#include "farreach/cache/soft_driver.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/command_error.h"
#include "common/errno_error.h"
#include "common/packed_numbers.h"

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

Driver::Json result_of(Driver::Json& answer) {
  if (answer["ok"].get<bool>()) return std::move(answer["result"]);
  throw CommandError(answer["error"]["code"], answer["error"]["message"]);
}

Driver::Json write_arguments(const Driver::Cells& cells) {
  return {{"table", cells.name}, {"first", cells.first}, {"values", pack_numbers(cells.values)}};
}

}  // namespace

SoftDriver::SoftDriver(net::EventLoop& loop, std::filesystem::path run_directory,
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
  std::unique_ptr<node::ControlClient> client = take_client();
  node::ControlClient::CallOptions options;
  options.deadline = Deadline::after(kCallDeadline);
  Json answer = client->request(command, args, options);
  client_ = std::move(client);
  return result_of(answer);
}

std::unique_ptr<node::ControlClient> SoftDriver::take_client() {
  if (client_) return std::move(client_);
  return std::make_unique<node::ControlClient>(run_directory_, switch_name_);
}

void SoftDriver::write_tables(const Json& updates) {
  call("table_write", {{"updates", updates}});
}

void SoftDriver::write_entries(const std::string& table, const std::vector<Column>& key,
                               const std::string& action, const std::vector<Column>& data) {
  const auto packed = [](const std::vector<Column>& columns) {
    Json fields = Json::object();
    for (const Column& column : columns) fields[column.field] = pack_numbers(column.numbers);
    return fields;
  };
  write_tables(Json::array({{{"op", "upsert_columns"},
                             {"table", table},
                             {"key", packed(key)},
                             {"action", action},
                             {"data", packed(data)}}}));
}

Driver::Json SoftDriver::read_table(const std::string& table) {
  return call("table_read", {{"table", table}}).at("entries");
}

std::string SoftDriver::read_default(const std::string& table) {
  return call("table_read", {{"table", table}}).at("default").at("action");
}

std::size_t SoftDriver::count_entries(const std::string& table) {
  return call("table_info", {{"table", table}}).at("entries");
}

std::vector<std::uint64_t> SoftDriver::read_register(const std::string& name, std::uint32_t first,
                                                     std::uint32_t count) {
  const Json answer = call("register_read",
                           {{"table", name}, {"first", first}, {"count", count}, {"packed", true}});
  return unpack_numbers(answer.at("values"), "register " + name);
}

void SoftDriver::write_register(const std::string& name, std::uint32_t first,
                                const std::vector<std::uint64_t>& values) {
  call("register_write", write_arguments({name, first, values}));
}

// The switch reads one range while the next is packed.
void SoftDriver::write_registers(const std::vector<Cells>& ranges) {
  std::unique_ptr<node::ControlClient> client = take_client();
  node::ControlClient::CallOptions options;
  options.deadline = Deadline::after(kCallDeadline);
  for (const Cells& range : ranges) {
    client->send("register_write", write_arguments(range), options.deadline);
  }
  std::vector<Json> answers;
  for (std::size_t i = 0; i < ranges.size(); ++i) answers.push_back(client->receive(options));
  client_ = std::move(client);
  for (Json& answer : answers) result_of(answer);
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
