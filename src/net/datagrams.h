// Datagrams of one UDP address, in batches. By which means they travel is a setting, so that a
// program is written once.
//
//   auto datagrams = open_datagrams({.local = address, .queued = 256});
//   for (int i = 0, count = datagrams->receive(); i < count; ++i) {
//     const auto request = datagrams->at(i);
//     datagrams->add(answer(request.bytes, datagrams->buffer()), &request.from);
//     if (datagrams->full()) datagrams->flush(failed);
//   }
//   datagrams->flush(failed);
//
// Not thread-safe, but drops(). After construction nothing here allocates.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace turntable::net {

class FailedCallback;
template <typename Function>
concept TakesFailure = !std::is_same_v<std::remove_cvref_t<Function>, FailedCallback>;

// Refers to somebody's function (tag, errno) for as long as a call lasts.
class FailedCallback {
 public:
  template <TakesFailure Function>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): TakesFailure leaves copies alone
  FailedCallback(Function&& function) noexcept
      : context_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* context, std::uint32_t tag, int error) {
          (*static_cast<std::remove_reference_t<Function>*>(context))(tag, error);
        }) {}

  void operator()(std::uint32_t tag, int error) const { call_(context_, tag, error); }

 private:
  void* context_;
  void (*call_)(void*, std::uint32_t, int);
};

class Datagrams {
 public:
  struct Received {
    std::span<const std::uint8_t> bytes;
    sockaddr_in from;
    bool has_stamp;
    std::int64_t received_ns;  // CLOCK_REALTIME
    bool truncated;            // longer than `datagram_bytes`
  };

  virtual ~Datagrams() = default;

  // Replaces the batch by what is waiting, without blocking. Answers the number of datagrams, 0 if
  // none is there, or -errno (an ICMP error of a connected peer; the next call may succeed).
  virtual int receive() noexcept = 0;
  // Valid until the next receive().
  virtual Received at(std::size_t i) const noexcept = 0;

  virtual bool full() const noexcept = 0;
  virtual std::size_t waiting() const noexcept = 0;   // to be sent
  virtual std::size_t capacity() const noexcept = 0;  // so many can wait
  // Where to write the next datagram; then add() it. Not while full().
  virtual std::span<std::uint8_t> buffer() noexcept = 0;
  // `to`: nullptr for the connected peer. `dscp`: 0 to 63. `tag` comes back if the datagram cannot
  // be sent.
  virtual void add(std::size_t bytes, const sockaddr_in* to, std::uint8_t dscp = 0,
                   std::uint32_t tag = 0) noexcept = 0;
  // Sends the first `count` that wait. Those refused are handed to `failed`, not tried again.
  virtual void flush(std::size_t count, FailedCallback failed) noexcept = 0;
  void flush(FailedCallback failed) noexcept { flush(waiting(), failed); }

  virtual int fd() const noexcept = 0;  // readable when receive() would find something
  virtual sockaddr_in local() const = 0;
  virtual std::size_t buffer_bytes() const = 0;  // for what has been received, but not read
  // Datagrams lost at this end since it was opened, because nobody read them in time. Thread-safe.
  virtual std::uint32_t drops() const = 0;
};

enum class DatagramKind : std::uint8_t { kSockets, kAfXdp };
enum class Stamps : std::uint8_t {
  kEvery,   // at every datagram
  kOldest,  // at the first of a batch: costs less. With it `from` is unknown: for connected ones
};

struct DatagramSettings {
  DatagramKind kind = DatagramKind::kSockets;
  std::string interface {};             // with af_xdp: of `local`
  sockaddr_in local{};                  // port 0: any free one
  std::optional<sockaddr_in> remote{};  // the connected peer
  std::size_t queued = 64;              // so many of the largest datagrams can wait to be read
  std::size_t datagram_bytes = 256;     // a longer one arrives truncated, and is seen as such
  Stamps stamps = Stamps::kEvery;
};

// Throws CommandError that says what to do.
std::unique_ptr<Datagrams> open_datagrams(const DatagramSettings& settings);

// "sockets" or "af_xdp", which needs an interface. Throws bad_argument that names the option.
DatagramKind datagram_kind(const std::string& name, const std::string& interface);
inline constexpr const char* kDatagramsHelp =
    "How datagrams travel: sockets, or af_xdp, which needs --interface";
inline constexpr const char* kInterfaceHelp = "With af_xdp: the interface of the data network";

}  // namespace turntable::net
