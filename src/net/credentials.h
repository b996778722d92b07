// What a node shows on a control link: the secret of its run, which node it is, and which of the
// processes and connections of that node, so that the newest can take the place of the one before.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace turntable::net {

// Which process of a node, and which of its connections. Counts up on one machine from its start,
// whatever is done to its clock.
struct Incarnation {
  std::array<std::uint8_t, 16> boot{};  // of the machine: another one means another start of it
  std::uint64_t started_ns = 0;         // of the process, CLOCK_BOOTTIME
  std::uint32_t connection = 0;         // of the process, counted

  // Of two starts of a machine nobody can say which came first: neither is older.
  bool is_older_than(const Incarnation& other) const {
    if (boot != other.boot) return false;
    return std::pair(started_ns, connection) < std::pair(other.started_ns, other.connection);
  }
  bool operator==(const Incarnation&) const = default;
};

struct Identity {
  std::string node;  // host, run directory and name: no two nodes of a run have the same
  Incarnation incarnation;

  bool operator==(const Identity&) const = default;
};

class Credentials {
 public:
  static constexpr std::size_t kMinSecretBytes = 32;
  static constexpr std::size_t kMaxSecretBytes = 4096;
  static constexpr std::size_t kMaxNodeBytes = 255;

  // Throws CommandError (bad_argument) when the secret is too short or too long; a longer name of
  // a node is cut in front.
  Credentials(std::string secret, std::string node);

  // Reads the secret, a line of text, from a file that only its owner can read; `node` is found
  // from TURNTABLE_HOST, the run directory and the node's name. Throws CommandError that names the
  // file.
  static Credentials from_file(const std::filesystem::path& secret_file,
                               const std::filesystem::path& run_directory, const std::string& name);

  // Of one of several connections of the same node, which has a name of its own. Throws as the
  // constructor.
  Credentials of_connection(const std::string& name) const { return {secret_, node_ + "/" + name}; }

  const std::string& secret() const { return secret_; }
  // Of the next connection. Thread-safe.
  Identity next() const;

 private:
  std::string secret_;
  std::string node_;
};

// Of the option that names the file, in every program that has it.
inline constexpr const char* kSecretHelp =
    "File with the secret that all nodes of the run share: 32 to 4096 bytes, mode 0600";

}  // namespace turntable::net
