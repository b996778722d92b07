// A residual checksum: what is left of a packet's checksum when the headers that the parser took
// from the packet are subtracted, so the sum of its payload.
#pragma once

#include <cstdint>

#include "dataplane/checksum.h"
#include "dataplane/packet_reader.h"

namespace turntable::dataplane {

// Of one Checksum and one run of a parser. The residue is deposited when the parser ends, however
// it does, because what follows `deposit` counts: additions, subtractions, and the bytes that the
// parser takes.
class ResidualChecksum {
 public:
  ResidualChecksum(Checksum& sum, const PacketReader& reader) : sum_(sum), reader_(reader) {}
  ResidualChecksum(const ResidualChecksum&) = delete;
  ResidualChecksum& operator=(const ResidualChecksum&) = delete;
  ~ResidualChecksum() {
    if (field_ == nullptr) return;
    // All at once: a header with an odd number of bytes shifts the words of the next one.
    sum_.subtract({from_, reader_.position()});
    *field_ = sum_.get();
  }

  // The bytes taken from here on are subtracted; `field` gets the residue. The last call counts.
  void deposit(std::uint16_t& field) noexcept {
    field_ = &field;
    from_ = reader_.position();
  }

 private:
  Checksum& sum_;
  const PacketReader& reader_;
  const std::uint8_t* from_ = nullptr;
  std::uint16_t* field_ = nullptr;
};

}  // namespace turntable::dataplane
