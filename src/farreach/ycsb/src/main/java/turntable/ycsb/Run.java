package turntable.ycsb;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/** What all threads of a YCSB process share. */
final class Run {
  private static final int CONTROLLER_DEADLINE_S = 10;
  private static final int POLL_MS = 20;
  private static Run only;

  final Settings settings;
  final Fields fields;
  final Copies copies;

  private final CopiesLink link; // null: none
  private final List<Channel> channels = new CopyOnWriteArrayList<>();
  private final List<Counts> counts = new CopyOnWriteArrayList<>(); // a client is numbered by its place
  private final long startNs;

  /** YCSB makes all its clients before any of them begins. */
  static synchronized Run of(Properties properties) {
    try {
      only = only == null ? new Run(properties) : only;
      return only;
    } catch (IOException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  private Run(Properties properties) throws IOException {
    settings = new Settings(properties);
    fields = new Fields(properties);
    copies = new Copies(settings.copies);
    link = settings.controller == null ? null : connect();
    System.err.println("KvClient: " + fields.description());
    Runtime.getRuntime().addShutdownHook(new Thread(this::end, "end"));
    startNs = awaitStart();
  }

  private CopiesLink connect() throws IOException {
    Handshake handshake = new Handshake(settings.secret);
    CopiesLink made = new CopiesLink(
        settings.controller, handshake, copies, () -> channels.forEach(Channel::readWaiting));
    try {
      made.awaitFirst(CONTROLLER_DEADLINE_S);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    return made;
  }

  /** Here and not in the threads, so that YCSB's own run time begins at the common start too. */
  private long awaitStart() {
    long startAtNs = settings.startAtNs == 0 ? Clock.nowNs() : settings.startAtNs;
    for (long now = Clock.nowNs(); now < startAtNs; now = Clock.nowNs()) {
      LockSupport.parkNanos(startAtNs - now);
    }
    return startAtNs;
  }

  synchronized Channel open() throws IOException {
    int client = counts.size();
    long from = startNs + settings.warmupNs;
    long until = settings.measureNs == 0 ? Long.MAX_VALUE : from + settings.measureNs;
    Counts own = new Counts(settings.servers, from, until);
    counts.add(own);
    History history =
        settings.history == null ? null : new History(Path.of(settings.history), client);
    Channel channel = new Channel(this, client, own, history);
    channels.add(channel);
    return channel;
  }

  int partition(long key) {
    return settings.servers == 1 ? 0 : Key.partition(key, settings.servers);
  }

  /** YCSB has said its results, so nothing of this is in them. */
  private void end() {
    awaitRelease();
    if (settings.statistics == null) {
      return;
    }
    try {
      Map<String, Object> ofCopies = Map.of("kept", copies.size(), "dropped", copies.dropped());
      Map<String, Object> more = settings.copies == 0 ? Map.of()
          : link == null ? Map.of("copies", ofCopies)
          : Map.of("copies", ofCopies, "controller", link.statistics());
      new Statistics(settings, counts, startNs).write(more);
    } catch (IOException e) {
      System.err.println("KvClient: no statistics: " + e.getMessage());
    }
  }

  /** Copies end with this process; what only the switch has then does not survive it. */
  private void awaitRelease() {
    if (link == null) {
      return;
    }
    long endNs = System.nanoTime() + settings.releaseS * 1_000_000_000L;
    while (copies.size() > 0 && System.nanoTime() < endNs) {
      LockSupport.parkNanos(POLL_MS * 1_000_000L);
    }
    if (copies.size() > 0) {
      System.err.println("KvClient: ends with " + copies.size() + " copies that no snapshot has"
          + " released: take a snapshot before the switch fails (docs/from-ycsb.md)");
    }
  }
}
