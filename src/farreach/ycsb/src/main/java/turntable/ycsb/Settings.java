package turntable.ycsb;

import java.net.InetSocketAddress;
import java.util.Properties;

/** The binding's properties; docs/from-ycsb.md says what each is. */
final class Settings {
  static final int SERVER_PORT = 1152;
  private static final int CONTROLLER_PORT = 5555;

  final InetSocketAddress server;
  final InetSocketAddress controller; // null: none
  final String local;
  final String secret;
  final long timeoutNs;
  final int attempts;
  final int copies;
  final int releaseS;
  final int servers;
  final String statistics;
  final String history;
  final long startAtNs; // CLOCK_REALTIME; 0: at once
  final long warmupNs;
  final long measureNs; // 0: until the end

  Settings(Properties properties) {
    server = address(properties, "kv.server", SERVER_PORT);
    if (server == null) {
      throw new IllegalArgumentException("property kv.server is missing; expected the address that"
          + " clients send to, such as -p kv.server=198.18.0.21");
    }
    controller = address(properties, "kv.controller", CONTROLLER_PORT);
    secret = properties.getProperty("kv.secret");
    if (controller != null && secret == null) {
      throw new IllegalArgumentException("property kv.secret is missing; expected the file with the"
          + " secret that the cache-controller has, since kv.controller is given");
    }
    local = properties.getProperty("kv.local", "0.0.0.0");
    timeoutNs = number(properties, "kv.timeout_ms", 1000, 1, 60_000) * 1_000_000;
    attempts = (int) number(properties, "kv.attempts", 10, 1, 1_000_000);
    copies = (int) number(properties, "kv.copies", controller == null ? 0 : 100_000, 0, 10_000_000);
    releaseS = (int) number(properties, "kv.release_s", 5, 0, 3600);
    servers = (int) number(properties, "kv.servers", 1, 1, Key.SLOTS);
    statistics = properties.getProperty("kv.statistics");
    history = properties.getProperty("kv.history");
    startAtNs = number(properties, "kv.start_at_ns", 0, 0, Long.MAX_VALUE);
    warmupNs = number(properties, "kv.warmup_ms", 0, 0, 3_600_000) * 1_000_000;
    measureNs = number(properties, "kv.measure_ms", 0, 0, 86_400_000) * 1_000_000;
    refuseScans(properties);
  }

  private static void refuseScans(Properties properties) {
    String share = properties.getProperty("scanproportion", "0");
    if (Double.parseDouble(share) > 0) {
      throw new IllegalArgumentException("scanproportion is " + share + ": keys are spread over the"
          + " servers by hash, which cannot scan; expected 0 (workloads A, B, C, D and F)");
    }
  }

  private static long number(Properties from, String name, long otherwise, long least, long most) {
    String text = from.getProperty(name);
    if (text == null) {
      return otherwise;
    }
    try {
      long value = Long.parseLong(text.strip());
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException notANumber) {
      // said below
    }
    throw new IllegalArgumentException("property " + name + " is \"" + text
        + "\"; expected a whole number from " + least + " to " + most);
  }

  private static InetSocketAddress address(Properties from, String name, int otherwise) {
    String text = from.getProperty(name);
    if (text == null) {
      return null;
    }
    int colon = text.indexOf(':');
    try {
      int port = colon < 0 ? otherwise : Integer.parseInt(text.substring(colon + 1));
      return new InetSocketAddress(colon < 0 ? text : text.substring(0, colon), port);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("property " + name + " is \"" + text
          + "\"; expected ADDRESS or ADDRESS:PORT, such as 198.18.0.21:" + otherwise);
    }
  }
}
