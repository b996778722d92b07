#include "net/datagrams.h"

#include "common/command_error.h"
#include "net/udp.h"
#include "net/xdp_datagrams.h"

namespace turntable::net {
namespace {

class SocketDatagrams final : public Datagrams {
 public:
  explicit SocketDatagrams(const DatagramSettings& settings)
      : socket_(open_udp(settings.local, settings.queued)),
        received_(settings.stamps == Stamps::kEvery ? ReceiveBatch::Details::kSenderAndStamp
                                                    : ReceiveBatch::Details::kOldestStamp,
                  settings.datagram_bytes),
        sending_(settings.datagram_bytes) {
    if (settings.remote) connect_udp(socket_.get(), *settings.remote);
  }

  int receive() noexcept override { return received_.receive(socket_.get()); }
  Received at(std::size_t i) const noexcept override { return received_.at(i); }

  bool full() const noexcept override { return sending_.full(); }
  std::size_t waiting() const noexcept override { return sending_.size(); }
  std::size_t capacity() const noexcept override { return kBatch; }
  std::span<std::uint8_t> buffer() noexcept override { return sending_.buffer(); }
  void add(std::size_t bytes, const sockaddr_in* to, std::uint8_t dscp,
           std::uint32_t tag) noexcept override {
    sending_.add(bytes, to, dscp, tag);
  }
  void flush(std::size_t count, FailedCallback failed) noexcept override {
    if (count > 0) sending_.flush(socket_.get(), count, failed);
  }

  int fd() const noexcept override { return socket_.get(); }
  sockaddr_in local() const override { return address_of(socket_.get()); }
  std::size_t buffer_bytes() const override { return receive_buffer_bytes(socket_.get()); }
  std::uint32_t drops() const override { return socket_drops(socket_.get()); }

 private:
  UniqueFd socket_;
  ReceiveBatch received_;
  SendBatch sending_;
};

}  // namespace

std::unique_ptr<Datagrams> open_datagrams(const DatagramSettings& settings) {
  if (settings.kind == DatagramKind::kAfXdp) return std::make_unique<XdpDatagrams>(settings);
  return std::make_unique<SocketDatagrams>(settings);
}

DatagramKind datagram_kind(const std::string& name, const std::string& interface) {
  if (name == "sockets") return DatagramKind::kSockets;
  if (name != "af_xdp")
    throw bad_argument("--datagrams is \"" + name + "\"; expected sockets or af_xdp");
  if (interface.empty())
    throw bad_argument("--datagrams af_xdp: --interface is missing; expected the name of one");
  return DatagramKind::kAfXdp;
}

}  // namespace turntable::net
