#include "dataplane/trace_filter.h"

#include <arpa/inet.h>

#include <charconv>
#include <functional>
#include <map>

#include "common/command_error.h"
#include "dataplane/wire.h"

namespace turntable::dataplane {
namespace {

constexpr std::size_t kEthernetBytes = 14;
constexpr std::uint16_t kEthertypeIpv4 = 0x0800;
constexpr std::uint8_t kTcp = 6, kUdp = 17;
constexpr std::uint16_t kFragmentOffset = 0x1FFF;

[[noreturn]] void fail(std::string_view term, const std::string& expected) {
  throw bad_argument("trace filter: \"" + std::string(term) + "\": expected " + expected);
}

std::uint64_t number(std::string_view name, std::string_view text, std::uint64_t most,
                     int base = 10) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc() && end == text.data() + text.size() && value <= most) return value;
  fail(std::string(name) + "=" + std::string(text),
       base == 16 ? "hexadecimal digits, for instance " + std::string(name) + "=0800"
                  : "a number up to " + std::to_string(most));
}

std::uint16_t short_number(std::string_view name, std::string_view text, std::uint64_t most,
                           int base = 10) {
  return static_cast<std::uint16_t>(number(name, text, most, base));
}

std::uint32_t address(std::string_view name, std::string_view text) {
  in_addr parsed{};
  if (inet_pton(AF_INET, std::string(text).c_str(), &parsed) != 1) {
    fail(std::string(name) + "=" + std::string(text),
         "an IPv4 address, for instance " + std::string(name) + "=198.18.0.1");
  }
  return ntohl(parsed.s_addr);
}

std::vector<std::uint8_t> hex_bytes(std::string_view term, std::string_view digits) {
  std::vector<std::uint8_t> bytes(digits.size() / 2);
  bool valid = !digits.empty() && digits.size() % 2 == 0;
  for (std::size_t i = 0; valid && i < bytes.size(); ++i) {
    const char* const first = digits.data() + 2 * i;
    valid = std::from_chars(first, first + 2, bytes[i], 16).ptr == first + 2;
  }
  if (valid) return bytes;
  fail(term,
       "match=OFFSET:VALUE or match=OFFSET:VALUE/MASK, value and mask in hexadecimal and "
       "whole bytes, for instance match=12:0800");
}

}  // namespace

TraceFilter TraceFilter::parse(std::string_view text) {
  TraceFilter filter;
  while (!text.empty()) {
    const std::string_view term = text.substr(0, text.find(','));
    text.remove_prefix(std::min(term.size() + 1, text.size()));
    const std::size_t equals = term.find('=');
    if (equals == std::string_view::npos) fail(term, "NAME=VALUE, for instance count=20");
    filter.add_term(term.substr(0, equals), term.substr(equals + 1));
  }
  return filter;
}

void TraceFilter::add_term(std::string_view name, std::string_view value) {
  const std::string term = std::string(name) + "=" + std::string(value);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (name == "port") {
    port_ = short_number(name, value, 511);
  } else if (name == "udp" || name == "tcp") {
    transport_ = {name == "udp" ? kUdp : kTcp, short_number(name, value, 65535)};
  } else if (name == "ethertype") {
    ethertype_ = short_number(name, value, 0xFFFF, 16);
  } else if (name == "src") {
    source_ = address(name, value);
  } else if (name == "dst") {
    destination_ = address(name, value);
  } else if (name == "ip") {
    either_ = address(name, value);
  } else if (name == "every") {
    every_ = number(name, value, kMost);
    if (every_ == 0) fail(term, "a number from 1 on");
  } else if (name == "count") {
    count_ = value == "all" ? kMost : number(name, value, kMost);
  } else if (name == "match") {
    const std::size_t colon = std::min(value.find(':'), value.size());
    const std::size_t slash = std::min(value.find('/'), value.size());
    if (slash < colon) fail(term, "match=OFFSET:VALUE/MASK");
    Bytes bytes;
    bytes.offset = number("match", value.substr(0, colon), kMaxFrame);
    bytes.value =
        hex_bytes(term, colon == value.size() ? "" : value.substr(colon + 1, slash - colon - 1));
    bytes.mask = slash == value.size() ? std::vector<std::uint8_t>(bytes.value.size(), 0xFF)
                                       : hex_bytes(term, value.substr(slash + 1));
    if (bytes.mask.size() != bytes.value.size()) fail(term, "a mask as long as the value");
    bytes_.push_back(std::move(bytes));
  } else {
    fail(term, "port, udp, tcp, ip, src, dst, ethertype, match, every or count");
  }
}

bool TraceFilter::choose(const Packet& packet) {
  if (chosen_ >= count_ || !matches(packet)) return false;
  if (matched_++ % every_ != 0) return false;
  ++chosen_;
  return true;
}

bool TraceFilter::matches(const Packet& packet) const {
  if (port_ && packet.ingress_port != *port_) return false;
  for (const auto& [offset, value, mask] : bytes_) {
    if (offset + value.size() > packet.length) return false;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (((packet.data[offset + i] ^ value[i]) & mask[i]) != 0) return false;
    }
  }
  if (!ethertype_ && !source_ && !destination_ && !either_ && !transport_) return true;
  if (packet.length < kEthernetBytes) return false;
  const auto ethertype = load_aligned<std::uint16_t>(packet.data + 12);
  if (ethertype_ && ethertype != *ethertype_) return false;
  if (!source_ && !destination_ && !either_ && !transport_) return true;
  return ethertype == kEthertypeIpv4 && matches_ipv4(packet);
}

bool TraceFilter::matches_ipv4(const Packet& packet) const {
  const std::uint8_t* const header = packet.data + kEthernetBytes;
  const std::size_t length = packet.length - kEthernetBytes;
  if (length < 20) return false;
  const auto source = load_aligned<std::uint32_t>(header + 12);
  const auto destination = load_aligned<std::uint32_t>(header + 16);
  if (source_ && source != *source_) return false;
  if (destination_ && destination != *destination_) return false;
  if (either_ && source != *either_ && destination != *either_) return false;
  if (!transport_) return true;
  const std::size_t header_bytes = 4 * std::size_t{header[0] & 0xFU};
  const bool is_first = (load_aligned<std::uint16_t>(header + 6) & kFragmentOffset) == 0;
  if (header[9] != transport_->protocol || !is_first || length < header_bytes + 4) return false;
  return load_aligned<std::uint16_t>(header + header_bytes) == transport_->port ||
         load_aligned<std::uint16_t>(header + header_bytes + 2) == transport_->port;
}

}  // namespace turntable::dataplane
