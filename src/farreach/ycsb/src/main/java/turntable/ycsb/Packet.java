package turntable.ycsb;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/** Packets between clients and what serves them (docs/architecture.md §3, docs/kvcache.md §3). */
final class Packet {
  static final int SWITCH = 0xffff;
  static final int MOST_CACHED_BYTES = 128;
  static final int MOST_BYTES = 64 << 10;
  static final int FRAGMENT_BYTES = 1412;
  static final int LONGEST_DATAGRAM = 2048;

  private static final int GET_ANSWER = 0x0009;
  private static final int PUT_ANSWER = 0x0008;
  private static final int DELETE_ANSWER = 0x0018;
  private static final int LARGE_GET_ANSWER = 0x0300;
  private static final int GET_ANSWER_SEQ = 0x006b;
  private static final int PUT_ANSWER_SEQ = 0x000a;
  private static final int DELETE_ANSWER_SEQ = 0x001a;
  private static final int LARGE_GET_ANSWER_SEQ = 0x0350;
  private static final int LARGE_PUT = 0x02d0;

  /** What a client asks for. */
  enum Kind {
    GET(0x0030), PUT(0x0001), DELETE(0x0040);

    private final int type;

    Kind(int type) {
      this.type = type;
    }

    boolean isAnsweredBy(int answer) {
      return switch (this) {
        case GET -> answer == GET_ANSWER || answer == GET_ANSWER_SEQ || isPart(answer);
        case PUT -> answer == PUT_ANSWER || answer == PUT_ANSWER_SEQ;
        case DELETE -> answer == DELETE_ANSWER || answer == DELETE_ANSWER_SEQ;
      };
    }
  }

  private Packet() {}

  private static boolean isPart(int type) {
    return type == LARGE_GET_ANSWER || type == LARGE_GET_ANSWER_SEQ;
  }

  private static boolean isAnswer(int type) {
    for (Kind kind : Kind.values()) {
      if (kind.isAnsweredBy(type)) {
        return true;
      }
    }
    return false;
  }

  static boolean isLarge(byte[] value) {
    return value != null && value.length > MOST_CACHED_BYTES;
  }

  /** Datagrams that a request takes. */
  static int fragments(byte[] value) {
    return isLarge(value) ? (value.length + FRAGMENT_BYTES - 1) / FRAGMENT_BYTES : 1;
  }

  /** Writes datagram {@code index} of a request; {@code value} is null unless it is a PUT. */
  static void encode(
      ByteBuffer to, Kind kind, long key, int request, byte[] value, int client, int index) {
    boolean large = isLarge(value);
    to.putShort((short) (large ? LARGE_PUT : kind.type));
    Key.put(to, key);
    to.putInt(request);
    if (large) {
      putFragment(to, request, value, client, index);
    } else if (value != null) {
      to.putShort((short) value.length).put(value);
      to.put(new byte[-value.length & 7]).putShort((short) kind.type);
    }
  }

  private static void putFragment(
      ByteBuffer to, int request, byte[] value, int client, int index) {
    to.putShort((short) client).putInt(request); // every transmission is a request of its own
    to.putShort((short) index).putShort((short) fragments(value));
    if (index == 0) {
      to.putInt(value.length);
    }
    int begin = index * FRAGMENT_BYTES;
    to.put(value, begin, Math.min(FRAGMENT_BYTES, value.length - begin));
  }

  /** The answer in a datagram; null if it holds none. */
  static Answer decode(ByteBuffer from) {
    try {
      int type = from.getShort();
      return isAnswer(type) ? decode(type, from) : null;
    } catch (BufferUnderflowException tooShort) {
      return null;
    }
  }

  private static Answer decode(int type, ByteBuffer from) {
    long key = Key.get(from);
    int request = from.getInt();
    byte[] value = (type & 1) != 0 ? takeValue(from) : new byte[0];
    boolean hasShadow = (type & 0xf) != 0;
    if (key < 0 || value == null || (hasShadow && from.getShort() != type)) {
      return null;
    }
    int number = 0;
    if ((type & 2) != 0 || type == LARGE_GET_ANSWER_SEQ) {
      number = from.getInt();
      from.getInt(); // the snapshot's token, no business of clients
    }
    boolean exists = from.get() != 0; // every answer has `stat`
    int node = Short.toUnsignedInt(from.getShort());
    from.get();
    if (isPart(type)) {
      return takeFragment(new Answer(type, key, request, value, number, exists, node, null), from);
    }
    return from.hasRemaining()
        ? null
        : new Answer(type, key, request, value, number, exists, node, null);
  }

  private static byte[] takeValue(ByteBuffer from) {
    int length = Short.toUnsignedInt(from.getShort());
    if (length > MOST_CACHED_BYTES) {
      return null;
    }
    byte[] value = new byte[length];
    from.get(value).get(new byte[-length & 7]);
    return value;
  }

  private static Answer takeFragment(Answer head, ByteBuffer from) {
    from.getShort(); // the client's number, of requests
    int transmission = from.getInt();
    int index = Short.toUnsignedInt(from.getShort());
    int count = Short.toUnsignedInt(from.getShort());
    int length = index == 0 ? from.getInt() : 0;
    byte[] bytes = new byte[from.remaining()];
    from.get(bytes);
    boolean fits = index < count && bytes.length > 0 && bytes.length <= FRAGMENT_BYTES
        && count <= MOST_BYTES / FRAGMENT_BYTES + 1 && length <= MOST_BYTES
        && (index == count - 1 || bytes.length == FRAGMENT_BYTES);
    Answer.Fragment fragment = new Answer.Fragment(transmission, index, count, length);
    return fits
        ? new Answer(head.type(), head.key(), head.request(), bytes, head.number(), head.exists(),
            head.node(), fragment)
        : null;
  }
}
