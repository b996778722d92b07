#include "messages/message.h"

#include <gtest/gtest.h>

#include "messages/testing_message.h"

namespace turntable::messages {
namespace {

using testing::Note;
using Bytes = std::vector<std::uint8_t>;

// QUESTION "hi" with id 0x102, written by hand from the tables in message.h and testing_message.h.
const Bytes kQuestionBytes = {0, 0, 0, 12, 0x12, 0, 0, 1, 2, 0, 0, 0, 0, 2, 'h', 'i'};

Note question() {
  Note note = testing::question("hi");
  note.id = 0x102;
  return note;
}

Bytes bytes_of(const Note& note) {
  Bytes bytes;
  encode(note, bytes);
  return bytes;
}

Note note_of(const Bytes& bytes) {
  FrameReader reader;
  reader.append(bytes);
  const auto frame = reader.next();
  if (!frame) throw std::runtime_error("the bytes are not a whole frame");
  return decode<Note>(*frame);
}

std::string refusal_of(const Bytes& bytes) {
  try {
    note_of(bytes);
  } catch (const MessageError& error) {
    return error.what();
  }
  return "they were accepted";
}

Bytes changed(std::size_t at, std::uint8_t value) {
  Bytes bytes = kQuestionBytes;
  bytes[at] = value;
  return bytes;
}

TEST(Message, HasTheDocumentedBytes) {
  EXPECT_EQ(bytes_of(question()), kQuestionBytes);
  EXPECT_EQ(note_of(kQuestionBytes), question());
}

TEST(Message, AnAnswerHasTheIdAndBit7) {
  const Bytes bytes = bytes_of(testing::refusal_of(question()));
  EXPECT_EQ(bytes, (Bytes{0, 0, 0, 10, 0x92, 0, 0, 1, 2, 1, 0, 0, 0, 0}));
  EXPECT_EQ(note_of(bytes), testing::refusal_of(question()));
}

TEST(Message, IsCutFromAnyPieces) {
  Bytes stream = kQuestionBytes;
  encode(testing::hello(), stream);
  FrameReader reader;
  std::vector<Note> found;
  for (const std::uint8_t byte : stream) {
    reader.append(std::span(&byte, 1));
    while (const auto frame = reader.next()) found.push_back(decode<Note>(*frame));
  }
  EXPECT_EQ(found, (std::vector{question(), testing::hello()}));
}

TEST(Message, DamagedBytesAreRefused) {
  for (std::size_t cut = kLengthBytes + 1; cut < kQuestionBytes.size(); ++cut) {
    Bytes bytes(kQuestionBytes.begin(), kQuestionBytes.begin() + static_cast<std::ptrdiff_t>(cut));
    bytes[3] = static_cast<std::uint8_t>(cut - kLengthBytes);  // says that this is all
    EXPECT_EQ(refusal_of(bytes), "a message ends early") << cut;
  }
  EXPECT_EQ(refusal_of({0, 0, 0, 0}), "type 0 is unknown; is the other side of the same build?");
  EXPECT_EQ(refusal_of(changed(4, 0x55)),
            "type 85 is unknown; is the other side of the same build?");
  EXPECT_EQ(refusal_of(changed(13, 1)), "bytes follow the end of a message");
  EXPECT_EQ(refusal_of(changed(0, 0xff)),
            "a message of 4278190092 bytes; expected at most 67108864");
}

TEST(Message, ThatIsTooLongIsNotSent) {
  const std::size_t most = kMaxMessageBytes - (kHeaderBytes - kLengthBytes) - 5;
  EXPECT_EQ(bytes_of(testing::question(std::string(most, 'x'))).size(),
            kLengthBytes + kMaxMessageBytes);
  Bytes bytes = {7};
  try {
    encode(testing::question(std::string(most + 1, 'x')), bytes);
    FAIL() << "it was accepted";
  } catch (const MessageError& error) {
    EXPECT_STREQ(error.what(), "QUESTION of 67108865 bytes; at most 67108864 can be sent");
  }
  EXPECT_EQ(bytes, Bytes{7});
}

}  // namespace
}  // namespace turntable::messages
