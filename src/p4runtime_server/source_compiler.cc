#include "p4runtime_server/source_compiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/errno_error.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSource = 1U << 20U;
constexpr std::size_t kMostMessages = 16U << 10U;  // of the translator, in bytes
constexpr double kLookSeconds = 0.1;  // between two looks at whether the call has been cancelled
constexpr double kEndSeconds = 10;    // until what was asked to end is ended
constexpr int kWrongProgram = 1;      // exit status of `p4soft compile`
constexpr const char* kProgram = "program";
constexpr const char* kScratch = "compiling-";

fs::path source_in(const fs::path& directory) {
  return directory / (std::string(kProgram) + ".p4");
}

fs::path messages_in(const fs::path& directory) {
  return directory / "messages";
}

void make_private_directory(const fs::path& directory) {
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    throw errno_error("cannot create " + directory.native());
  struct stat found {};
  if (::lstat(directory.c_str(), &found) != 0)
    throw errno_error("cannot look at " + directory.native());
  const bool is_private = S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() &&
                          (found.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  if (is_private) return;
  throw std::runtime_error(directory.native() +
                           ": expected a directory that belongs to this user and that nobody else "
                           "may enter, for programs of clients; remove it");
}

// Of a server that was killed.
void remove_scratch_directories(const fs::path& parent) {
  for (const auto& entry : fs::directory_iterator(parent)) {
    std::error_code ignored;
    if (entry.path().filename().native().starts_with(kScratch))
      fs::remove_all(entry.path(), ignored);
  }
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.native());
}

// The first of them, with names of files as the client knows them.
std::string messages_of(const fs::path& directory) {
  std::string text(kMostMessages, '\0');
  std::ifstream file(messages_in(directory), std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const std::string prefix = directory.native() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
    text.erase(at, prefix.size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  // A status has ASCII; the message of a wrong program may repeat any text of it.
  std::replace_if(
      text.begin(), text.end(),
      [](char each) { return (each < ' ' && each != '\n') || each > '~'; }, '?');
  return text;
}

// The children of an ended translator end with it.
void end(const node::Child& child) {
  child.send(SIGTERM);
  if (!child.wait(Deadline::after_seconds(kEndSeconds))) child.send(SIGKILL);
}

}  // namespace

bool is_source_text(const std::string& device_config) {
  const auto is_control = [](unsigned char each) {
    return (each < ' ' && std::isspace(each) == 0) || each == 0x7F;
  };
  if (std::any_of(device_config.begin(), device_config.end(), is_control)) return false;
  try {
    static_cast<void>(nlohmann::json(device_config).dump());
    return true;
  } catch (const nlohmann::json::type_error&) {  // no UTF-8
    return false;
  }
}

CompiledSource::CompiledSource(std::atomic<bool>& is_busy, const fs::path& parent,
                               std::string source)
    : is_busy_(is_busy), source_(std::move(source)) {
  std::string directory = parent / (std::string(kScratch) + "XXXXXX");
  if (::mkdtemp(directory.data()) == nullptr) {
    is_busy_ = false;
    throw errno_error("cannot create " + directory);
  }
  directory_ = directory;
}

CompiledSource::~CompiledSource() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
  is_busy_ = false;
}

SourceCompiler::SourceCompiler(SourceCompilerOptions options) : options_(std::move(options)) {
  if (!is_there()) return;
  const std::string& translator = options_.translator.native();
  if (!fs::is_regular_file(translator) || ::access(translator.c_str(), X_OK) != 0) {
    throw std::runtime_error("--translator " + translator +
                             ": there is no such program; expected the path of p4soft, as "
                             "`command -v p4soft` says it");
  }
  options_.translator = fs::absolute(options_.translator);
  options_.directory = fs::absolute(options_.directory);
  make_private_directory(options_.directory);
  remove_scratch_directories(options_.directory);
}

void SourceCompiler::check_idle() const {
  if (is_stopping_) throw Refusal(grpc::StatusCode::UNAVAILABLE, "p4runtime-server ends");
  if (!is_busy_) return;
  throw Refusal(grpc::StatusCode::UNAVAILABLE,
                "the program of another configuration is being compiled; try again when that call "
                "has been answered");
}

std::unique_ptr<CompiledSource> SourceCompiler::compile(const std::string& source,
                                                        const std::function<bool()>& is_cancelled) {
  if (source.size() > kMostSource) {
    throw invalid("the P4 source has " + std::to_string(source.size()) + " bytes; expected up to " +
                  std::to_string(kMostSource));
  }
  // The other may end before it is looked at: then this one tries again.
  for (bool is_busy = false; !is_busy_.compare_exchange_strong(is_busy, true); is_busy = false)
    check_idle();
  std::unique_ptr<CompiledSource> compiled(
      new CompiledSource(is_busy_, options_.directory, source));
  write_file(source_in(compiled->directory_), source);
  run(*compiled, is_cancelled);
  compiled->library_ = compiled->directory_ / "made" / (std::string(kProgram) + ".so");
  return compiled;
}

void SourceCompiler::run(const CompiledSource& compiled,
                         const std::function<bool()>& is_cancelled) {
  const fs::path& directory = compiled.directory_;
  node::ProcessSpec spec;
  spec.argv = {
      options_.translator, "compile",     source_in(directory),           "--confined", "--output",
      directory / "made",  "--cache-dir", options_.directory / "programs"};
  spec.log_file = messages_in(directory);
  const auto child = children_.start(spec);
  const auto deadline = Deadline::after_seconds(options_.deadline_s);
  while (!child->wait(Deadline::after_seconds(kLookSeconds).min(deadline))) {
    if (!is_stopping_ && !is_cancelled() && !deadline.passed()) continue;
    end(*child);
    if (is_stopping_) check_idle();
    if (is_cancelled()) throw Refusal(grpc::StatusCode::CANCELLED, "the call was cancelled");
    throw exhausted("the program was not compiled in " +
                    std::to_string(static_cast<int>(options_.deadline_s)) +
                    " s, and is given up; p4runtime-server's --translator-deadline-s says how long "
                    "it may take");
  }
  const std::string messages = messages_of(directory);
  const std::optional<int> status = child->exit_status();
  if (status == EXIT_SUCCESS) return;
  if (status == kWrongProgram) throw invalid(messages);
  std::fprintf(stderr, "p4runtime-server: the translator %s: %s\n", child->end().c_str(),
               messages.c_str());
  throw Refusal(grpc::StatusCode::INTERNAL,
                "the translator failed, for another reason than the program; that is on "
                "p4runtime-server's standard error");
}

}  // namespace turntable::p4runtime_server
