package turntable.ycsb;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Tells the cache-controller which copies the clients keep, and releases those that a snapshot holds
 * (docs/kvcache.md §8-9). One connection for all clients of the process, on a thread of its own; a
 * controller that dies is waited for.
 */
final class CopiesLink {
  private static final int DEADLINE_MS = 5_000;
  private static final int AGAIN_MS = 20;
  private static final int MOST_AT_ONCE = 100_000;

  private final InetSocketAddress controller;
  private final Handshake handshake;
  private final Copies copies;
  private final Runnable readWaiting;
  private final CountDownLatch accepted = new CountDownLatch(1);
  private volatile String lastFailure = "it does not listen";
  private volatile boolean up;
  private volatile long lists;
  private volatile long repeatedLists;
  private volatile long refused;
  private Integer lastList;
  private List<Copies.Copy> pages = List.of();
  private int helloId;

  /**
   * @param readWaiting returns when all answers have been handled that had reached the sockets: they
   *     may be to writes that only a dead switch had
   */
  CopiesLink(InetSocketAddress controller, Handshake handshake, Copies copies, Runnable readWaiting) {
    this.controller = controller;
    this.handshake = handshake;
    this.copies = copies;
    this.readWaiting = readWaiting;
    Thread thread = new Thread(this::run, "cache-controller");
    thread.setDaemon(true);
    thread.start();
  }

  void awaitFirst(int seconds) throws IOException, InterruptedException {
    if (!accepted.await(seconds, TimeUnit.SECONDS)) {
      throw new IOException("no cache-controller at " + controller + " within " + seconds + " s: "
          + lastFailure);
    }
  }

  Map<String, Object> statistics() {
    return Map.of("connected", up, "lists", lists, "repeated_lists", repeatedLists,
        "refused", refused);
  }

  private void run() {
    while (true) {
      try (Socket socket = new Socket()) {
        socket.connect(controller, DEADLINE_MS);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(DEADLINE_MS);
        serve(socket);
      } catch (IOException e) {
        lastFailure = e.getMessage() == null ? e.toString() : e.getMessage();
      }
      up = false;
      try {
        Thread.sleep(AGAIN_MS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    handshake.prove(in, out);
    socket.setSoTimeout(0);
    Message.request(Message.CLIENT_HELLO, ++helloId, Message.VERSION).write(out);
    while (true) {
      Message message = Message.read(in);
      if (!message.isAnswer()) {
        Message told = answer(message);
        refused += told.text().isEmpty() ? 0 : 1;
        told.write(out);
      } else if (!message.text().isEmpty()) {
        throw new IOException(message.text());
      } else {
        up = true;
        accepted.countDown();
      }
    }
  }

  private Message answer(Message request) {
    return switch (request.type()) {
      case Message.RELEASE_COPIES -> release(request);
      case Message.COPIES -> page(request);
      default -> request.failure("a client does not answer type " + request.type());
    };
  }

  private Message release(Message request) {
    int[] numbers = request.numbers();
    if (numbers.length != 2 || numbers[1] < 0 || numbers[1] > 1) {
      return request.failure("RELEASE_COPIES needs the snapshot's id, and 0 or 1");
    }
    if (lastList != null && lastList == numbers[0]) {
      repeatedLists++;
      return request.answer(List.of());
    }
    if (lastList != null && Integer.compareUnsigned(numbers[0], lastList) < 0) {
      return request.failure("list " + Integer.toUnsignedString(numbers[0]) + " came after list "
          + Integer.toUnsignedString(lastList) + "; expected a larger one");
    }
    Map<Long, Integer> listed = new HashMap<>();
    for (Message.Record record : request.records()) {
      listed.merge(Key.get(java.nio.ByteBuffer.wrap(record.key())), record.number(), Math::max);
    }
    lastList = numbers[0];
    lists++;
    copies.release(listed, numbers[1] == 1);
    return request.answer(List.of());
  }

  /** Copies are collected when the first page is asked for, or when another controller goes on. */
  private Message page(Message request) {
    int[] numbers = request.numbers();
    if (numbers.length != 1 || numbers[0] < 1 || numbers[0] > MOST_AT_ONCE
        || request.records().size() > 1) {
      return request.failure("COPIES needs how many are asked for, from 1 to " + MOST_AT_ONCE
          + ", and one key to go on behind, or none");
    }
    if (request.records().isEmpty() || pages.isEmpty()) {
      readWaiting.run();
      pages = copies.sorted();
    }
    int from = 0;
    if (!request.records().isEmpty()) {
      byte[] behind = request.records().get(0).key();
      while (from < pages.size()
          && Arrays.compareUnsigned(Key.wire(pages.get(from).key()), behind) <= 0) {
        from++;
      }
    }
    int count = Math.min(numbers[0], pages.size() - from);
    List<Message.Record> records =
        pages.subList(from, from + count).stream().map(Message.Record::of).toList();
    if (count < numbers[0]) {
      pages = List.of(); // that was the last
    }
    return request.answer(records);
  }
}
