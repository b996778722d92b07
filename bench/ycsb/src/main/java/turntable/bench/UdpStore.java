package turntable.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB's client over the packets of docs/architecture.md §3: what FarReach's Java client does, in the
 * fastest way that Java has, which is one connected channel per thread and buffers outside the heap.
 *
 * <p>Properties: {@code udp.address}, {@code udp.port}. One request is outstanding per thread.
 */
public final class UdpStore extends DB {
  private static final ProtocolFamily IPV4 = StandardProtocolFamily.INET;
  private static final short GET_REQUEST = 0x0030;
  private static final short PUT_REQUEST = 0x0001;
  private static final int GET_RESPONSE = 0x0009;
  private static final int PUT_RESPONSE = 0x0008;
  private static final int ID_AT = 2 + WireKey.BYTES;
  private static final int VALUE_LENGTH_AT = ID_AT + 4;
  private static final int DATAGRAM_BYTES = 256;

  private final ByteBuffer request = ByteBuffer.allocateDirect(DATAGRAM_BYTES);
  private final ByteBuffer answer = ByteBuffer.allocateDirect(DATAGRAM_BYTES);
  private DatagramChannel channel;
  private int requestId;

  @Override
  public void init() throws DBException {
    String address = getProperties().getProperty("udp.address");
    int port = Integer.parseInt(getProperties().getProperty("udp.port"));
    try {
      channel = DatagramChannel.open(IPV4).connect(new InetSocketAddress(address, port));
    } catch (IOException e) {
      throw new DBException("no UDP socket to " + address + ":" + port, e);
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
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    begin(GET_REQUEST, key);
    if (!exchange(GET_RESPONSE)) {
      return Status.ERROR;
    }
    byte[] value = new byte[answer.getShort(VALUE_LENGTH_AT)];
    answer.get(VALUE_LENGTH_AT + 2, value);
    result.put("field0", new ByteArrayByteIterator(value));
    return Status.OK;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    byte[] value = values.values().iterator().next().toArray();
    begin(PUT_REQUEST, key);
    request.putShort((short) value.length).put(value).putShort(PUT_REQUEST); // a multiple of 8 bytes
    return exchange(PUT_RESPONSE) ? Status.OK : Status.ERROR;
  }

  private void begin(short type, String key) {
    request.clear().putShort(type);
    WireKey.put(request, WireKey.id(key));
    request.putInt(++requestId);
  }

  private boolean exchange(int wantedType) {
    try {
      channel.write(request.flip());
      channel.read(answer.clear());
    } catch (IOException e) {
      throw new IllegalStateException("UDP failed", e);
    }
    return answer.getShort(0) == wantedType && answer.getInt(ID_AT) == requestId;
  }

  @Override
  public Status scan(String table, String startKey, int count, Set<String> fields,
      Vector<java.util.HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }
}
