#include "golden/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <memory>

#include "golden/read_file.h"

namespace assay {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void update(const void* bytes, std::size_t size) { EVP_DigestUpdate(context_.get(), bytes, size); }
  std::string finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), hash.data(), &size);
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    for (unsigned i = 0; i < size; ++i) {
      out += kHex[hash[i] >> 4];
      out += kHex[hash[i] & 15];
    }
    return out;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::span<const std::uint8_t> bytes) {
  Digest digest;
  digest.update(bytes.data(), bytes.size());
  return digest.finish();
}

std::string sha256_file(const std::filesystem::path& path) {
  Digest digest;
  read_pieces(path, [&](std::span<const std::uint8_t> piece) { digest.update(piece.data(), piece.size()); });
  return digest.finish();
}

}  // namespace assay
