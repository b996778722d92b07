package turntable.ycsb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What clients keep of records that only the switch may have (docs/kvcache.md §8): of every key that
 * the switch answered for, the record with the largest number. The same rules as
 * src/farreach/kv/client_copies.h.
 */
final class Copies {
  /** @param value null: the record is a delete */
  record Copy(long key, int number, byte[] value, int listsBefore) {}

  private final int most;
  private final Map<Long, Copy> copies = new HashMap<>();
  private int lists;
  private long dropped;

  Copies(int most) {
    this.most = most;
  }

  synchronized void keep(long key, int number, byte[] value) {
    if (most == 0) {
      return;
    }
    Copy before = copies.get(key);
    if (before != null && before.number >= number) {
      return;
    }
    if (before == null && copies.size() == most) {
      dropped++;
      return;
    }
    copies.put(key, new Copy(key, number, value, lists));
  }

  /**
   * A snapshot has the listed records. Of a listed key the copy goes unless it is newer. An unlisted
   * key may have been admitted after the snapshot's point: its copy goes only if it was kept before
   * the previous list came, and that list had been answered before the snapshot began.
   *
   * @param confirmed whether the list before this one had been answered then
   */
  synchronized void release(Map<Long, Integer> listed, boolean confirmed) {
    int before = lists++;
    copies.values().removeIf(copy -> {
      Integer number = listed.get(copy.key);
      return number != null ? copy.number <= number : confirmed && copy.listsBefore < before;
    });
  }

  /** All of them, by key as on the wire. */
  synchronized List<Copy> sorted() {
    List<Copy> all = new ArrayList<>(copies.values());
    Comparator<Copy> byWire = (one, other) ->
        Arrays.compareUnsigned(Key.wire(one.key), Key.wire(other.key));
    all.sort(byWire);
    return all;
  }

  synchronized int size() {
    return copies.size();
  }

  /** For want of room: a crash of the switch may lose their records. */
  synchronized long dropped() {
    return dropped;
  }
}
