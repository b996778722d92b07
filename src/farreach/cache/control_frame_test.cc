#include "farreach/cache/control_frame.h"

#include <gtest/gtest.h>

#include <vector>

namespace turntable::cache {
namespace {

// An answered LOAD, written by hand from docs/kvcache.md §3.
std::vector<std::uint8_t> load_answer() {
  std::vector<std::uint8_t> bytes = {
      2,    0,    0,    0,    0x88, 1,    2, 0, 0, 0, 0x88, 2,  0x88, 0xb5,  // Ethernet
      0x83, 1,    0x01, 0x02, 0x12, 0x34, 0, 0, 0, 9,                        // control
      0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 11,   12, 13,   14,   15, 16, 17, 18,  // op
      0xca, 0xfe, 0,    1,  // request
      0,    3};             // length
  bytes.resize(bytes.size() + 120);
  for (const int byte : {0x61, 0x62, 0x63, 0, 0, 0, 0, 0}) bytes.push_back(std::uint8_t(byte));
  for (const int byte : {0xc0, 0, 0, 5, 0, 0, 0, 8}) bytes.push_back(std::uint8_t(byte));
  return bytes;
}

ControlFrame expected() {
  ControlFrame frame{.operation = ControlFrame::Operation::kLoad, .is_answer = true, .valid = 1};
  frame.egress_port = 258;
  frame.slot = 0x1234;
  frame.frequency = 9;
  frame.key = {0, 0, 0, 0, 0, 0, 0, 0, 11, 12, 13, 14, 15, 16, 17, 18};
  frame.request_id = 0xcafe0001;
  frame.length = 3;
  frame.value[120] = 'a', frame.value[121] = 'b', frame.value[122] = 'c';
  frame.cell = kSuperseded | 5;
  frame.token = 8;
  return frame;
}

TEST(ControlFrame, HasTheDocumentedBytes) {
  const auto bytes = load_answer();
  const auto encoded = encode(expected());
  EXPECT_EQ(std::vector<std::uint8_t>(encoded.begin(), encoded.end()), bytes);
  EXPECT_EQ(decode_control_frame(bytes), expected());
}

TEST(ControlFrame, CarriesARecordAndItsState) {
  const Record record = record_of(expected());
  EXPECT_EQ(record.number, 5U);
  EXPECT_EQ(record.kind, Record::Kind::kValue);
  EXPECT_EQ(record.value, (std::vector<std::uint8_t>{'a', 'b', 'c'}));
  EXPECT_EQ(state_of(expected().cell), kSuperseded);

  ControlFrame deleted = expected();
  deleted.length = 0x8000;
  EXPECT_EQ(record_of(deleted).kind, Record::Kind::kDeleted);
  ControlFrame admit;
  put_record(record, admit);
  EXPECT_EQ(admit.length, 3);
  EXPECT_EQ(admit.value, expected().value);
  put_record(key_only(record.key), admit);
  EXPECT_EQ(admit.length, 0x8000);
}

TEST(ControlFrame, OtherBytesAreNone) {
  const auto whole = load_answer();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_control_frame(std::span(whole).first(size))) << size;
  }
  const auto refused = [&](std::size_t at, std::uint8_t byte) {
    auto bytes = whole;
    bytes[at] = byte;
    return !decode_control_frame(bytes);
  };
  EXPECT_TRUE(refused(13, 0xb6));  // another Ethernet type
  EXPECT_TRUE(refused(14, 0x06));  // no such operation
  EXPECT_TRUE(refused(14, 0x80));
  EXPECT_TRUE(refused(47, 129));  // a value longer than the frame
}

}  // namespace
}  // namespace turntable::cache
