package turntable.ycsb;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The connecting end of a control link proves itself, and has the other end do so (src/net/handshake.h). */
final class Handshake {
  private static final byte[] MAGIC = "TTC1".getBytes(StandardCharsets.US_ASCII);
  private static final int NONCE_BYTES = 32;
  private static final int MAC_BYTES = 32;
  private static final int LEAST_SECRET = 32;
  private static final int MOST_SECRET = 4096;
  private static final int MOST_NAME = 255;
  private static final Set<PosixFilePermission> OF_OTHERS = Set.of(
      PosixFilePermission.GROUP_READ, PosixFilePermission.GROUP_WRITE,
      PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);

  private final SecureRandom random = new SecureRandom();
  private final AtomicInteger connections = new AtomicInteger();
  private final byte[] secret;
  private final byte[] name;
  private final long startedNs;

  /** Each process is a node of its own: one that ends may wait beside the next. */
  Handshake(String secretFile) throws IOException {
    secret = readSecret(Path.of(secretFile));
    String host = System.getenv().getOrDefault("TURNTABLE_HOST", "");
    String text = host + ":ycsb-" + ProcessHandle.current().pid();
    name = text.substring(Math.max(0, text.length() - MOST_NAME)).getBytes(StandardCharsets.UTF_8);
    String uptime = Files.readString(Path.of("/proc/uptime")).split(" ")[0];
    startedNs = (long) (Double.parseDouble(uptime) * 1e9); // of CLOCK_BOOTTIME
  }

  void prove(DataInputStream in, DataOutputStream out) throws IOException {
    byte[] magic = in.readNBytes(MAGIC.length);
    if (!MessageDigest.isEqual(magic, MAGIC)) {
      throw new IOException("the other end speaks another protocol");
    }
    byte[] theirs = in.readNBytes(NONCE_BYTES);
    byte[] ours = new byte[NONCE_BYTES];
    random.nextBytes(ours);
    byte[] identity = identity();
    out.write(MAGIC);
    out.write(ours);
    out.write(identity);
    out.write(mac("connector", theirs, ours, identity));
    out.flush();
    if (!MessageDigest.isEqual(in.readNBytes(MAC_BYTES), mac("listener", theirs, ours, identity))) {
      throw new IOException("the two ends do not share a secret");
    }
  }

  private byte[] identity() throws IOException {
    UUID boot = UUID.fromString(
        Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip());
    return ByteBuffer.allocate(1 + name.length + 16 + 8 + 4)
        .put((byte) name.length).put(name)
        .putLong(boot.getMostSignificantBits()).putLong(boot.getLeastSignificantBits())
        .putLong(startedNs).putInt(connections.incrementAndGet()).array();
  }

  private byte[] mac(String end, byte[]... parts) throws IOException {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      mac.update(end.getBytes(StandardCharsets.US_ASCII));
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IOException(e);
    }
  }

  private static byte[] readSecret(Path file) throws IOException {
    if (Files.isRegularFile(file)
        && Files.getPosixFilePermissions(file).stream().anyMatch(OF_OTHERS::contains)) {
      throw new IOException("the run's secret, " + file + ": others may read it; expected mode 0600:"
          + " chmod 600 " + file);
    }
    // Its bytes are text, and not all files say how long they are (standard input).
    String text;
    try (var in = Files.newInputStream(file)) {
      text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }
    byte[] bytes = (text.endsWith("\n") ? text.substring(0, text.length() - 1) : text)
        .getBytes(StandardCharsets.ISO_8859_1);
    if (bytes.length < LEAST_SECRET || bytes.length > MOST_SECRET) {
      throw new IOException("the run's secret, " + file + ", has " + bytes.length
          + " bytes; expected " + LEAST_SECRET + " to " + MOST_SECRET);
    }
    return bytes;
  }
}
