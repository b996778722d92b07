package turntable.ycsb;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A message between a client and the cache-controller, as src/farreach/cache/messages.h has it.
 *
 * @param text of an answer: why it is a failure; empty: it is none
 */
record Message(
    int type, int id, int store, String text, int[] numbers, List<Message.Record> records) {
  static final int CLIENT_HELLO = 0x05;
  static final int RELEASE_COPIES = 0x17;
  static final int COPIES = 0x18;
  static final int VERSION = 4;
  private static final int ANSWER_BIT = 0x80;
  private static final int MOST_BYTES = 64 << 20;
  private static final int VALUE = 0;
  private static final int DELETED = 1;

  /** @param value null unless it is a value */
  record Record(byte[] key, int kind, int number, byte[] value) {
    static Record of(Copies.Copy copy) {
      boolean deleted = copy.value() == null;
      return new Record(Key.wire(copy.key()), deleted ? DELETED : VALUE, copy.number(), copy.value());
    }
  }

  static Message request(int type, int id, int... numbers) {
    return new Message(type, id, 0, "", numbers, List.of());
  }

  Message answer(List<Record> answered) {
    return new Message(type | ANSWER_BIT, id, 0, "", new int[0], answered);
  }

  Message failure(String why) {
    return new Message(type | ANSWER_BIT, id, 0, why, new int[0], List.of());
  }

  boolean isAnswer() {
    return (type & ANSWER_BIT) != 0;
  }

  void write(DataOutputStream to) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeByte(type);
    out.writeInt(id);
    out.writeInt(store);
    byte[] why = text.getBytes(StandardCharsets.UTF_8);
    out.writeShort(why.length);
    out.write(why);
    out.writeInt(numbers.length);
    for (int number : numbers) {
      out.writeInt(number);
    }
    out.writeInt(records.size());
    for (Record record : records) {
      out.write(record.key);
      out.writeByte(record.kind);
      out.writeInt(record.number);
      out.writeShort(record.value == null ? 0 : record.value.length);
      out.write(record.value == null ? new byte[0] : record.value);
    }
    to.writeInt(bytes.size());
    bytes.writeTo(to);
    to.flush();
  }

  static Message read(DataInputStream from) throws IOException {
    int length = from.readInt();
    if (length < 0 || length > MOST_BYTES) {
      throw new IOException("a message of " + length + " bytes");
    }
    int type = from.readUnsignedByte();
    int id = from.readInt();
    int store = from.readInt();
    String text = new String(from.readNBytes(from.readUnsignedShort()), StandardCharsets.UTF_8);
    int[] numbers = new int[count(from, length)];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = from.readInt();
    }
    int count = count(from, length);
    List<Record> records = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      byte[] key = from.readNBytes(Key.BYTES);
      int kind = from.readUnsignedByte();
      int number = from.readInt();
      records.add(new Record(key, kind, number, from.readNBytes(from.readUnsignedShort())));
    }
    return new Message(type, id, store, text, numbers, records);
  }

  private static int count(DataInputStream from, int length) throws IOException {
    int count = from.readInt();
    if (count < 0 || count > length) {
      throw new IOException("a list is longer than its message");
    }
    return count;
  }
}
