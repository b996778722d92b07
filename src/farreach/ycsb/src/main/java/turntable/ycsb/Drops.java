package turntable.ycsb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Datagrams that the kernel has dropped at a UDP socket of this process, from /proc. */
final class Drops {
  private static final Path SOCKETS = Path.of("/proc/self/net/udp");
  private static final int LOCAL_ADDRESS = 1;

  private Drops() {}

  static long of(int port) {
    String suffix = String.format(":%04X", port);
    try {
      for (String line : Files.readAllLines(SOCKETS)) {
        String[] words = line.strip().split("\\s+");
        if (words.length > LOCAL_ADDRESS && words[LOCAL_ADDRESS].endsWith(suffix)) {
          return Long.parseLong(words[words.length - 1]);
        }
      }
    } catch (IOException | NumberFormatException unreadable) {
      // nobody knows: what was dropped shows as requests that are sent again
    }
    return 0;
  }
}
