package turntable.ycsb;

import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Puts the fragments of large answers together. They come in any order, doubled, or not at all; of
 * several answers under way the oldest is given up.
 */
final class Reassembly {
  private static final int MOST = 4; // the answer that is waited for, and those to earlier sendings

  private static final class Entry {
    final Answer[] parts;
    int missing;

    Entry(int count) {
      parts = new Answer[count];
      missing = count;
    }
  }

  private record Named(int request, int transmission, Entry entry) {}

  private final Deque<Named> underWay = new ArrayDeque<>();

  /** The whole answer, if this fragment completes it, else null. */
  Answer add(Answer part) {
    Answer.Fragment fragment = part.fragment();
    Entry entry = entryOf(part);
    if (entry.parts.length != fragment.count() || entry.parts[fragment.index()] != null) {
      return null;
    }
    entry.parts[fragment.index()] = part;
    return --entry.missing == 0 ? join(entry.parts) : null;
  }

  private Entry entryOf(Answer part) {
    Answer.Fragment fragment = part.fragment();
    for (Named named : underWay) {
      if (named.request == part.request() && named.transmission == fragment.transmission()) {
        return named.entry;
      }
    }
    if (underWay.size() == MOST) {
      underWay.removeFirst();
    }
    Entry entry = new Entry(fragment.count());
    underWay.addLast(new Named(part.request(), fragment.transmission(), entry));
    return entry;
  }

  private static Answer join(Answer[] parts) {
    ByteArrayOutputStream value = new ByteArrayOutputStream();
    for (Answer part : parts) {
      value.writeBytes(part.value());
    }
    return value.size() == parts[0].fragment().length() ? parts[0].whole(value.toByteArray()) : null;
  }
}
