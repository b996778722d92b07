#include "farreach/cache/messages.h"

#include <gtest/gtest.h>

namespace turntable::cache {
namespace {

using Bytes = std::vector<std::uint8_t>;

using messages::FrameReader;
using messages::MessageError;

Bytes bytes_of(const Message& message) {
  Bytes bytes;
  messages::encode(message, bytes);
  return bytes;
}

Message message_of(const Bytes& bytes) {
  FrameReader reader;
  reader.append(bytes);
  const auto frame = reader.next();
  if (!frame) throw std::runtime_error("the bytes are not a whole frame");
  return messages::decode<Message>(*frame);
}

// STORE of one record, written by hand from the table in messages.h.
const Bytes kStoreBytes = {
    0,    0, 0, 47,                                         // length
    0x12, 0, 0, 1,  2,                                      // STORE, id
    0,    0, 3, 4,                                          // for store 0x304
    0,    0,                                                // no text
    0,    0, 0, 1,  0, 0, 0, 9,                             // one number: 9
    0,    0, 0, 1,                                          // one record
    0,    0, 0, 0,  0, 0, 0, 0,    1, 2, 3, 4, 5, 6, 7, 8,  // key
    0,    0, 0, 0,  7, 0, 1, 0xaa,                          // value, number 7, one byte
};

Message store_message() {
  Record record{.key = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, .value = {}};
  record.kind = Record::Kind::kValue;
  record.number = 7;
  record.value = {0xaa};
  Message message = request(MessageType::kStore, {9}, {record});
  message.id = 0x102;
  message.store = 0x304;
  return message;
}

TEST(Messages, HaveTheDocumentedBytes) {
  EXPECT_EQ(bytes_of(store_message()), kStoreBytes);
  EXPECT_EQ(encoded_bytes(store_message()), kStoreBytes.size());
  EXPECT_EQ(message_of(kStoreBytes), store_message());
}

TEST(Messages, AnAnswerHasTheIdAndBit7) {
  const Bytes bytes = bytes_of(failure_of(store_message(), "no"));
  EXPECT_EQ(Bytes(bytes.begin() + 4, bytes.begin() + 17),
            (Bytes{0x92, 0, 0, 1, 2, 0, 0, 0, 0, 0, 2, 'n', 'o'}));
  EXPECT_EQ(message_of(bytes), failure_of(store_message(), "no"));
}

// Every cut and every changed byte either is a message or throws: nothing else may happen.
TEST(Messages, DamagedBytesAreRefused) {
  const Bytes whole = kStoreBytes;
  for (std::size_t cut = 5; cut < whole.size(); ++cut) {
    Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
    bytes[3] = static_cast<std::uint8_t>(cut - 4);  // says that this is all
    EXPECT_THROW(message_of(bytes), MessageError) << cut;
  }
  const auto refused = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = whole;
    bytes[at] = value;
    EXPECT_THROW(message_of(bytes), MessageError) << at;
  };
  refused(0, 0xff);   // length over the limit
  refused(4, 0x55);   // unknown type
  refused(15, 0xff);  // more numbers than bytes
  refused(23, 0xff);  // more records than bytes
  refused(43, 4);     // unknown kind
}

}  // namespace
}  // namespace turntable::cache
