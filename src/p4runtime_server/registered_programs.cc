#include "p4runtime_server/registered_programs.h"

#include <google/protobuf/text_format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace turntable::p4runtime_server {
namespace {

constexpr std::size_t kPieceBytes = 1 << 16;

std::string hexadecimal(const unsigned char* bytes, unsigned size) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 15U];
  }
  return text;
}

// The library for tracing has the same P4Info, and another name.
bool is_library(const std::filesystem::path& path) {
  return path.extension() == ".so" && path.stem().extension() != ".trace";
}

p4::config::v1::P4Info read_p4info(std::filesystem::path path) {
  std::ifstream file(path.replace_extension(".p4info.txtpb"));
  std::ostringstream text;
  text << file.rdbuf();
  p4::config::v1::P4Info info;
  if (!file || !google::protobuf::TextFormat::ParseFromString(text.str(), &info))
    throw std::runtime_error("the P4Info " + path.string() + " cannot be read");
  return info;
}

}  // namespace

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       &EVP_MD_CTX_free);
  if (!file || digest == nullptr || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1)
    return "";
  std::array<char, kPieceBytes> piece;
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
    EVP_DigestUpdate(digest.get(), piece.data(), static_cast<std::size_t>(file.gcount()));
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
  unsigned size = 0;
  if (file.bad() || EVP_DigestFinal_ex(digest.get(), hash.data(), &size) != 1) return "";
  return hexadecimal(hash.data(), size);
}

std::optional<RegisteredProgram> find_program(const std::filesystem::path& directory,
                                              const std::string& hash) {
  if (directory.empty()) return std::nullopt;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (is_library(entry.path()) && sha256_of_file(entry.path()) == hash)
      return RegisteredProgram{entry.path(), read_p4info(entry.path())};
  }
  return std::nullopt;
}

}  // namespace turntable::p4runtime_server
