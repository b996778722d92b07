// Programs that clients send as P4 source: `p4soft compile --confined` makes libraries of them, in
// a child process (docs/p4runtime.md, "P4 source").
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "node/children.h"

namespace turntable::p4runtime_server {

struct SourceCompilerOptions {
  std::filesystem::path translator;  // p4soft; empty: source is not compiled
  std::filesystem::path directory;   // made, for its owner alone: of this server, nobody else's
  double deadline_s = 300;           // of one compilation
};

// A program that was compiled. Its library is there as long as it lives, and no other is compiled.
class CompiledSource {
 public:
  ~CompiledSource();
  CompiledSource(const CompiledSource&) = delete;
  CompiledSource& operator=(const CompiledSource&) = delete;

  const std::string& source() const { return source_; }
  const std::filesystem::path& library() const { return library_; }

 private:
  friend class SourceCompiler;
  CompiledSource(std::atomic<bool>& is_busy, const std::filesystem::path& parent,
                 std::string source);

  std::atomic<bool>& is_busy_;
  std::filesystem::path directory_;
  std::string source_;
  std::filesystem::path library_;
};

// Thread-safe.
class SourceCompiler {
 public:
  // Throws std::runtime_error: the translator is no program, or the directory cannot be made, or
  // others may enter it.
  explicit SourceCompiler(SourceCompilerOptions options);

  bool is_there() const { return !options_.translator.empty(); }

  // Waits for it. Throws Refusal: INVALID_ARGUMENT the program is wrong, with the translator's
  // messages; UNAVAILABLE another is being compiled, or the server ends; RESOURCE_EXHAUSTED the
  // deadline has passed; CANCELLED as `is_cancelled` says; INTERNAL else.
  std::unique_ptr<CompiledSource> compile(const std::string& source,
                                          const std::function<bool()>& is_cancelled);
  // Throws Refusal UNAVAILABLE.
  void check_idle() const;

  // What is being compiled ends, and nothing begins any more.
  void stop() { is_stopping_ = true; }

 private:
  void run(const CompiledSource& compiled, const std::function<bool()>& is_cancelled);

  SourceCompilerOptions options_;
  std::atomic<bool> is_busy_{false};
  std::atomic<bool> is_stopping_{false};
  node::Children children_;
};

// Whether a device config is the text of a program: UTF-8 without control characters but for white
// space. (A hash is one, too.)
bool is_source_text(const std::string& device_config);

}  // namespace turntable::p4runtime_server
