package turntable.ycsb;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.workloads.CoreWorkload;

/**
 * A record's fields as one value. A single field is the value as it is, so that 128 bytes of it fit
 * the switch; several stand one behind the other: length of the name (1 byte), name, length of the
 * bytes (4), bytes.
 */
final class Fields {
  private final int count;
  private final String first;
  private final String length;
  private final boolean constant;

  Fields(Properties properties) {
    count = Integer.parseInt(properties.getProperty(
        CoreWorkload.FIELD_COUNT_PROPERTY, CoreWorkload.FIELD_COUNT_PROPERTY_DEFAULT));
    first = properties.getProperty(
        CoreWorkload.FIELD_NAME_PREFIX, CoreWorkload.FIELD_NAME_PREFIX_DEFAULT) + 0;
    length = properties.getProperty(
        CoreWorkload.FIELD_LENGTH_PROPERTY, CoreWorkload.FIELD_LENGTH_PROPERTY_DEFAULT);
    constant = properties.getProperty(CoreWorkload.FIELD_LENGTH_DISTRIBUTION_PROPERTY,
        CoreWorkload.FIELD_LENGTH_DISTRIBUTION_PROPERTY_DEFAULT).equals("constant");
  }

  /** Whether these are all fields of a record, so that nothing of an earlier one is left. */
  boolean areAll(Map<String, ByteIterator> values) {
    return values.size() == count;
  }

  byte[] encode(Map<String, ByteIterator> values) {
    if (count == 1) {
      return values.values().iterator().next().toArray();
    }
    Map<byte[], byte[]> bytes = new LinkedHashMap<>();
    values.forEach((name, value) ->
        bytes.put(name.getBytes(StandardCharsets.UTF_8), value.toArray()));
    int size = bytes.entrySet().stream()
        .mapToInt(field -> 1 + field.getKey().length + 4 + field.getValue().length).sum();
    ByteBuffer value = ByteBuffer.allocate(size);
    bytes.forEach((name, field) ->
        value.put((byte) name.length).put(name).putInt(field.length).put(field));
    return value.array();
  }

  /** Adds the wanted fields (null: all) of a value; false if it is not of this form. */
  boolean decode(byte[] value, Set<String> wanted, Map<String, ByteIterator> result) {
    if (count == 1) {
      return add(first, value, wanted, result);
    }
    ByteBuffer from = ByteBuffer.wrap(value);
    try {
      while (from.hasRemaining()) {
        byte[] name = new byte[Byte.toUnsignedInt(from.get())];
        from.get(name);
        int size = from.getInt();
        if (size < 0 || size > from.remaining()) {
          return false;
        }
        byte[] field = new byte[size];
        from.get(field);
        add(new String(name, StandardCharsets.UTF_8), field, wanted, result);
      }
      return value.length > 0;
    } catch (BufferUnderflowException cutOff) {
      return false;
    }
  }

  private static boolean add(
      String name, byte[] field, Set<String> wanted, Map<String, ByteIterator> result) {
    if (wanted == null || wanted.contains(name)) {
      result.put(name, new ByteArrayByteIterator(field));
    }
    return true;
  }

  /** What the switch can do with such records, in words. */
  String description() {
    String shape = count + " field" + (count == 1 ? "" : "s") + " x " + length + " B";
    if (!constant) {
      return shape + " at most: cacheable as far as they travel in "
          + Packet.MOST_CACHED_BYTES + " bytes";
    }
    long bytes = size();
    String travels = "records of " + shape + " travel in " + bytes + " bytes";
    return bytes <= Packet.MOST_CACHED_BYTES
        ? travels + ": cacheable"
        : travels + ": never cacheable, the switch has values of at most "
            + Packet.MOST_CACHED_BYTES + " bytes (fieldcount=1 and fieldlength="
            + Packet.MOST_CACHED_BYTES + " fit)";
  }

  private long size() {
    long field = Long.parseLong(length);
    if (count == 1) {
      return field;
    }
    String prefix = first.substring(0, first.length() - 1);
    long all = 0;
    for (int i = 0; i < count; i++) {
      all += 1 + (prefix + i).getBytes(StandardCharsets.UTF_8).length + 4 + field;
    }
    return all;
  }
}
