#include "common/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>

#include "common/hex.h"

namespace turntable {
namespace {

constexpr std::size_t kPieceBytes = 1 << 16;

class Sha256 {
 public:
  Sha256() : digest_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    require(digest_ != nullptr && EVP_DigestInit_ex(digest_.get(), EVP_sha256(), nullptr) == 1);
  }

  void add(std::string_view bytes) {
    require(EVP_DigestUpdate(digest_.get(), bytes.data(), bytes.size()) == 1);
  }

  std::string take() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
    unsigned size = 0;
    require(EVP_DigestFinal_ex(digest_.get(), hash.data(), &size) == 1);
    return to_hex(std::span<const std::uint8_t>(hash).first(size));
  }

 private:
  static void require(bool done) {
    if (!done) throw std::runtime_error("libcrypto cannot compute SHA-256");
  }

  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest_;
};

}  // namespace

std::string sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.take();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "";
  Sha256 hash;
  std::array<char, kPieceBytes> piece;
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
    hash.add({piece.data(), static_cast<std::size_t>(file.gcount())});
  return file.bad() ? "" : hash.take();
}

}  // namespace turntable
