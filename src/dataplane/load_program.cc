#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/program.h"
#include "dataplane/program_pipes.h"

namespace turntable::dataplane {
namespace {

constexpr const char* kExpected =
    "; expected a library as `p4soft compile` makes it of a P4 program";

[[noreturn]] void fail(const char* path, const std::string& reason) {
  throw std::runtime_error("cannot load the P4 program " + std::string(path) + ": " + reason);
}

template <class Function>
Function* find(void* library, const char* path, const char* symbol) {
  void* address = dlsym(library, symbol);
  if (address == nullptr) {
    fail(path, "it has no symbol " + std::string(symbol) + kExpected);
  }
  return reinterpret_cast<Function*>(address);
}

}  // namespace

std::unique_ptr<Program> load_program(const char* path, std::uint32_t pipes) {
  // dlopen searches the library path for a name without a slash, which is never meant here.
  const std::string file =
      std::string(path).find('/') == std::string::npos ? std::string("./") + path : path;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(path, std::string(dlerror()) + kExpected);
  const std::uint32_t abi = find<ProgramAbiFunction>(library, path, kProgramAbiSymbol)();
  if (abi != kProgramAbi) {
    fail(path, "it was built for program interface " + std::to_string(abi) + ", this program has " +
                   std::to_string(kProgramAbi) + "; rebuild it");
  }
  auto* const create = find<ProgramCreateFunction>(library, path, kProgramCreateSymbol);
  if (pipes == 1) return std::unique_ptr<Program>(create());
  std::vector<std::unique_ptr<Program>> of_pipes;
  while (of_pipes.size() < pipes) of_pipes.emplace_back(create());
  return std::make_unique<ProgramPipes>(std::move(of_pipes));
}

std::unique_ptr<Program> load_traced_program(const std::string& path, std::uint32_t pipes) {
  const std::filesystem::path traced = std::filesystem::path(path).replace_extension(".trace.so");
  if (!std::filesystem::exists(traced)) {
    fail(traced.c_str(), "it does not exist, and a trace needs it; `make build` makes it beside " +
                             std::filesystem::path(path).filename().string());
  }
  auto program = load_program(traced.c_str(), pipes);
  if (program->trace() == nullptr) fail(traced.c_str(), "it was not compiled for tracing");
  return program;
}

}  // namespace turntable::dataplane
