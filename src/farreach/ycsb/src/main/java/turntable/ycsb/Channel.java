package turntable.ycsb;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;

/**
 * One thread's UDP port, with one request under way at a time. A request that is not answered in
 * time is sent again under another id, so that a late answer to the first is known as such.
 */
final class Channel implements Closeable {
  private static final Status TIMEOUT = new Status("TIMEOUT", "No answer in time; sent again.");
  private static final int BUFFER_BYTES = 1 << 20;

  private final Run run;
  private final int client;
  private final Counts counts;
  private final History history; // null: none
  private final DatagramChannel socket;
  private final Selector selector;
  private final ByteBuffer out = ByteBuffer.allocateDirect(Packet.LONGEST_DATAGRAM);
  private final ByteBuffer in = ByteBuffer.allocateDirect(Packet.LONGEST_DATAGRAM);
  private final Reassembly reassembly = new Reassembly();
  // By `this`: what is read is handled at once, whoever reads it.
  private Request request;
  private Answer answer;
  private int requestId;

  Channel(Run run, int client, Counts counts, History history) throws IOException {
    this.run = run;
    this.client = client;
    this.counts = counts;
    this.history = history;
    socket = DatagramChannel.open(StandardProtocolFamily.INET);
    socket.setOption(java.net.StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
    socket.bind(new InetSocketAddress(run.settings.local, 0));
    socket.connect(run.settings.server);
    socket.configureBlocking(false);
    selector = Selector.open();
    socket.register(selector, SelectionKey.OP_READ);
  }

  /** The answer; null: none came to any of so many transmissions. */
  Answer ask(Packet.Kind kind, long key, byte[] value) throws IOException {
    Request asked = Request.of(kind, key, value);
    for (int attempt = 0; attempt < run.settings.attempts; attempt++) {
      if (attempt > 0) {
        count(asked);
      }
      Answer answered = send(asked);
      if (answered != null) {
        return answered;
      }
      counts.timeouts++;
    }
    giveUp(asked);
    return null;
  }

  private synchronized void count(Request asked) {
    counts.retried(Clock.nowNs());
    Measurements measurements = Measurements.getMeasurements();
    measurements.measure("RETRY", (int) ((Clock.nowNs() - asked.firstSentNs()) / 1000));
    measurements.reportStatus("RETRY", TIMEOUT);
  }

  private synchronized void giveUp(Request asked) {
    request = null;
    counts.unanswered++;
    if (history != null) {
      history.add(asked, null, 0);
    }
  }

  private Answer send(Request asked) throws IOException {
    long deadlineNs = transmit(asked) + run.settings.timeoutNs;
    while (true) {
      Answer answered = take();
      if (answered != null) {
        return answered;
      }
      long leftMs = (deadlineNs - Clock.nowNs()) / 1_000_000;
      if (leftMs <= 0) {
        return null;
      }
      selector.select(leftMs);
      selector.selectedKeys().clear();
    }
  }

  /** The instant before it was sent. */
  private synchronized long transmit(Request asked) throws IOException {
    long nowNs = Clock.nowNs();
    counts.firstSentNs = counts.firstSentNs == 0 ? nowNs : counts.firstSentNs;
    asked.sendsNs().add(nowNs);
    request = asked;
    answer = null;
    requestId++;
    for (int index = 0; index < Packet.fragments(asked.value()); index++) {
      Packet.encode(
          out.clear(), asked.kind(), asked.key(), requestId, asked.value(), client, index);
      counts.partitions[run.partition(asked.key())].requests++;
      try {
        socket.write(out.flip());
      } catch (PortUnreachableException ofAnEarlierOne) {
        counts.receiveErrors++; // what the system says of the one before took this one's place
        socket.write(out.rewind());
      }
    }
    return nowNs;
  }

  private synchronized Answer take() throws IOException {
    drain();
    return answer;
  }

  /** Handles what has reached the socket. Any thread. */
  synchronized void drain() throws IOException {
    while (answer == null || request == null) {
      if (!receive()) {
        return;
      }
    }
  }

  /** Any thread; wakes the one that waits for what was found. */
  void readWaiting() {
    try {
      drain();
    } catch (IOException e) {
      // The thread that owns the socket meets the same.
    }
    selector.wakeup();
  }

  private boolean receive() throws IOException {
    try {
      if (socket.read(in.clear()) <= 0) {
        return false;
      }
    } catch (PortUnreachableException nobodyThere) {
      counts.receiveErrors++;
      return true;
    }
    Answer part = Packet.decode(in.flip());
    if (part == null) {
      counts.malformed++;
      return true;
    }
    counts.partitions[run.partition(part.key())].answers++;
    Answer whole = part.fragment() == null ? part : reassembly.add(part);
    if (whole != null) {
      handle(whole, Clock.nowNs());
    }
    return true;
  }

  private void handle(Answer whole, long nowNs) {
    if (request == null || answer != null || whole.request() != requestId) {
      counts.stale++;
      return;
    }
    if (whole.key() != request.key() || !request.kind().isAnsweredBy(whole.type())) {
      counts.mismatched++;
      return;
    }
    int partition = run.partition(whole.key());
    if (!whole.isFromSwitch() && run.settings.servers > 1 && whole.node() != partition) {
      counts.wrongNode++;
    }
    if (whole.isFromSwitch()) {
      keepCopy(whole);
    }
    if (request.kind() == Packet.Kind.GET && !whole.exists()) {
      counts.notFound++;
    }
    counts.answered(partition, whole.isFromSwitch(), nowNs - request.firstSentNs(), nowNs);
    if (history != null) {
      history.add(request, whole, nowNs);
    }
    answer = whole;
  }

  private void keepCopy(Answer whole) {
    byte[] value = switch (request.kind()) {
      case GET -> whole.exists() ? whole.value() : null;
      case PUT -> request.value();
      case DELETE -> null;
    };
    if (!Packet.isLarge(value)) { // no switch holds such a value: it is forged
      run.copies.keep(whole.key(), whole.number(), value);
    }
  }

  @Override
  public synchronized void close() throws IOException {
    InetSocketAddress local = (InetSocketAddress) socket.getLocalAddress();
    counts.socketDrops = Drops.of(local.getPort());
    socket.close();
    selector.close();
    if (history != null) {
      history.close();
    }
  }
}
