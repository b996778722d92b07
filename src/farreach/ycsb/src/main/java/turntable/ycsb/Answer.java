package turntable.ycsb;

/**
 * An answer to a client, or one fragment of it.
 *
 * @param value of the fragment, if it is one; no bytes where there are none
 * @param number of the write that made the record; 0 with NoCache
 * @param node who answered: {@link Packet#SWITCH}, else the partition
 */
record Answer(
    int type, long key, int request, byte[] value, int number, boolean exists, int node,
    Fragment fragment) {

  /** Of a large value; {@code length}, of the whole, is in fragment 0 alone. */
  record Fragment(int transmission, int index, int count, int length) {}

  boolean isFromSwitch() {
    return node == Packet.SWITCH;
  }

  Answer whole(byte[] allOfTheValue) {
    return new Answer(type, key, request, allOfTheValue, number, exists, node, null);
  }
}
