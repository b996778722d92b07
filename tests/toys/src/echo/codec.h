// What an open loop must know of echoes: a request is its number, and so is its answer.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "echo/request_number.h"
#include "load/open_loop.h"
#include "net/datagrams.h"

namespace turntable::echo {

class Codec {
 public:
  static constexpr std::size_t kMaxDatagrams = 1;  // of a request

  unsigned send(RequestNumber number, std::int64_t /*now_ns*/, net::Datagrams& out) noexcept {
    std::memcpy(out.buffer().data(), &number, sizeof number);
    out.add(sizeof number, nullptr);
    return 1;
  }

  std::optional<RequestNumber> decode(const net::Datagrams::Received& datagram) noexcept {
    RequestNumber number = 0;
    if (datagram.bytes.size() != sizeof number) {
      ++malformed_;
      return std::nullopt;
    }
    std::memcpy(&number, datagram.bytes.data(), sizeof number);
    return number;
  }

  void counted(const load::OpenLoop::Counted& /*answer*/) noexcept {}

  std::int64_t malformed() const noexcept { return malformed_; }

 private:
  std::int64_t malformed_ = 0;
};

}  // namespace turntable::echo
