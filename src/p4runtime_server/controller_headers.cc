#include "p4runtime_server/controller_headers.h"

#include <algorithm>

#include "p4runtime_server/bytestring.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using config::ControllerPacketMetadata;
using dataplane::uint128;

const ControllerPacketMetadata* header_of(const config::P4Info& info, const char* name) {
  const auto& headers = info.controller_packet_metadata();
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const auto& header) {
    return header.preamble().name() == name;
  });
  return found == headers.end() ? nullptr : &*found;
}

std::string what_of(const ControllerPacketMetadata::Metadata& field) {
  return "packet_out, metadata " + field.name();
}

// Bits one after the other, the first the highest.
class BitWriter {
 public:
  void put(uint128 value, int width) {
    for (int bit = width - 1; bit >= 0; --bit) {
      if (used_++ % 8 == 0) bytes_.push_back('\0');
      const auto one = static_cast<unsigned>(value >> bit & 1U) << (7U - (used_ - 1) % 8U);
      bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | one);
    }
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  std::size_t used_ = 0;
};

class BitReader {
 public:
  explicit BitReader(std::string_view bytes) : bytes_(bytes) {}

  uint128 take(int width) {
    uint128 value = 0;
    for (int bit = 0; bit < width; ++bit, ++used_) {
      const auto byte = static_cast<unsigned char>(bytes_[used_ / 8]);
      value = value << 1U | (byte >> (7U - used_ % 8U) & 1U);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  std::size_t used_ = 0;
};

std::size_t bytes_of(const ControllerPacketMetadata& header) {
  std::size_t bits = 0;
  for (const auto& field : header.metadata()) bits += static_cast<std::size_t>(field.bitwidth());
  return (bits + 7) / 8;
}

// That of a field, which has to be there once.
const std::string& value_of_field(const p4::v1::PacketOut& packet,
                                  const ControllerPacketMetadata::Metadata& field) {
  const std::string* value = nullptr;
  for (const auto& given : packet.metadata()) {
    if (given.metadata_id() != field.id()) continue;
    if (value != nullptr) throw invalid(what_of(field) + " is given twice");
    value = &given.value();
  }
  if (value == nullptr) throw invalid(what_of(field) + " is missing");
  return *value;
}

void check_known(const ControllerPacketMetadata* header, const p4::v1::PacketOut& packet) {
  for (const auto& given : packet.metadata()) {
    const bool is_known =
        header != nullptr &&
        std::any_of(header->metadata().begin(), header->metadata().end(),
                    [&](const auto& field) { return field.id() == given.metadata_id(); });
    if (!is_known) {
      throw invalid("packet_out: the program has no metadata with id " +
                    std::to_string(given.metadata_id()));
    }
  }
}

}  // namespace

std::string frame_of(const config::P4Info& info, const p4::v1::PacketOut& packet) {
  const ControllerPacketMetadata* header = header_of(info, "packet_out");
  check_known(header, packet);
  if (header == nullptr) return packet.payload();
  BitWriter bits;
  for (const auto& field : header->metadata()) {
    try {
      const std::string& value = value_of_field(packet, field);
      bits.put(from_bytestring(value, field.bitwidth(), what_of(field)), field.bitwidth());
    } catch (const Refusal& refusal) {
      throw invalid(refusal.what());
    }
  }
  return bits.take() + packet.payload();
}

p4::v1::PacketIn packet_of(const config::P4Info& info, std::string_view frame) {
  p4::v1::PacketIn packet;
  const ControllerPacketMetadata* header = header_of(info, "packet_in");
  const std::size_t length = header == nullptr ? 0 : bytes_of(*header);
  if (frame.size() < length) {
    throw invalid("a frame of " + std::to_string(frame.size()) +
                  " bytes at the CPU port; packet_in has " + std::to_string(length));
  }
  if (header != nullptr) {
    BitReader bits(frame);
    for (const auto& field : header->metadata()) {
      p4::v1::PacketMetadata& metadata = *packet.add_metadata();
      metadata.set_metadata_id(field.id());
      metadata.set_value(to_bytestring(bits.take(field.bitwidth())));
    }
  }
  packet.set_payload(std::string(frame.substr(length)));
  return packet;
}

}  // namespace turntable::p4runtime_server
