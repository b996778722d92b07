package turntable.ycsb;

import java.util.ArrayList;
import java.util.List;

/**
 * What a thread asks for, until it has its answer or gives up.
 *
 * @param value of a PUT, else null
 * @param sendsNs an instant before each transmission
 */
record Request(Packet.Kind kind, long key, byte[] value, List<Long> sendsNs) {
  static Request of(Packet.Kind kind, long key, byte[] value) {
    return new Request(kind, key, value, new ArrayList<>(1));
  }

  long firstSentNs() {
    return sendsNs.get(0);
  }
}
