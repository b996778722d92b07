package turntable.ycsb;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.atomic.AtomicBoolean;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import turntable.ycsb.Packet.Kind;

/**
 * YCSB's client of FarReach, NetCache and NoCache (docs/from-ycsb.md). A record is one value of the
 * store; the table's name is not used.
 */
public final class KvClient extends DB {
  private static final AtomicBoolean TOLD = new AtomicBoolean();

  private Run run;
  private Channel channel;

  @Override
  public void setProperties(Properties properties) {
    super.setProperties(properties);
    run = Run.of(properties);
  }

  @Override
  public void init() throws DBException {
    try {
      channel = run.open();
    } catch (IOException e) {
      throw new DBException("no UDP socket to " + run.settings.server, e);
    }
  }

  @Override
  public void cleanup() throws DBException {
    try {
      channel.close();
    } catch (IOException e) {
      throw new DBException(e);
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return guarded(() -> {
      Answer answer = channel.ask(Kind.GET, Key.id(key), null);
      return answer == null ? Status.SERVICE_UNAVAILABLE
          : !answer.exists() ? Status.NOT_FOUND
          : run.fields.decode(answer.value(), fields, result) ? Status.OK
          : Status.UNEXPECTED_STATE;
    });
  }

  /** Some fields of several: the record is read, changed and written, as one value. */
  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    if (run.fields.areAll(values)) {
      return insert(table, key, values);
    }
    Map<String, ByteIterator> record = new HashMap<>();
    Status read = read(table, key, null, record);
    if (!read.isOk()) {
      return read;
    }
    record.putAll(values);
    return insert(table, key, record);
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    byte[] value = run.fields.encode(values);
    if (value.length > Packet.MOST_BYTES || value.length == 0) {
      tell("a record of " + value.length + " bytes; expected 1 to " + Packet.MOST_BYTES);
      return Status.BAD_REQUEST;
    }
    return write(Kind.PUT, key, value);
  }

  @Override
  public Status delete(String table, String key) {
    return write(Kind.DELETE, key, null);
  }

  @Override
  public Status scan(String table, String startKey, int count, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    tell("scan: keys are spread over the servers by hash, which cannot scan");
    return Status.NOT_IMPLEMENTED;
  }

  private Status write(Kind kind, String key, byte[] value) {
    return guarded(() -> channel.ask(kind, Key.id(key), value) == null
        ? Status.SERVICE_UNAVAILABLE
        : Status.OK);
  }

  private interface Asking {
    Status ask() throws IOException;
  }

  private static Status guarded(Asking asking) {
    try {
      return asking.ask();
    } catch (IllegalArgumentException e) {
      tell(e.getMessage());
      return Status.BAD_REQUEST;
    } catch (IOException e) {
      tell(e.toString());
      return Status.ERROR;
    }
  }

  /** The first refusal says why; statuses count the others. */
  private static void tell(String why) {
    if (TOLD.compareAndSet(false, true)) {
      System.err.println("KvClient: " + why);
    }
  }
}
