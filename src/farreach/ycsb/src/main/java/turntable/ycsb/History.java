package turntable.ycsb;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What one thread did, for check-history (docs/history-format.md). */
final class History implements Closeable {
  private static final int VERSION_BYTES = 8;

  private final BufferedWriter file;
  private final int client;

  History(Path directory, int client) throws IOException {
    this.client = client;
    Files.createDirectories(directory);
    file = Files.newBufferedWriter(directory.resolve("clients-" + client + ".ndjson"));
    file.write("{\"history\":1}\n");
  }

  /** @param answer null: none came */
  void add(Request request, Answer answer, long nowNs) {
    boolean isGet = request.kind() == Packet.Kind.GET;
    boolean found = answer != null && answer.exists();
    byte[] value = isGet ? (found ? answer.value() : null) : request.value();
    String line = "{\"client\":%d,\"key\":%d,\"op\":\"%s\",\"invoke_ns\":%d,\"sends_ns\":%s,"
        + "\"response_ns\":%s,\"version\":%s,\"number\":%s,\"node\":%s,\"found\":%s}%n";
    List<Long> sends = request.sendsNs();
    try {
      file.write(String.format(line, client, request.key(), request.kind().name().toLowerCase(),
          sends.get(0), sends.toString().replace(" ", ""), answer == null ? null : nowNs,
          version(value), answer == null ? null : Integer.toUnsignedString(answer.number()),
          answer == null ? null : answer.node(), answer != null && isGet ? found : null));
    } catch (IOException e) {
      throw new IllegalStateException("the history cannot be written", e);
    }
  }

  /** Random values differ in their first bytes; null: there is no value. */
  private static String version(byte[] value) {
    return value == null || value.length < VERSION_BYTES
        ? null
        : Long.toUnsignedString(ByteBuffer.wrap(value).getLong());
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
