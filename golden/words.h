// The words of one stream of the generator in order (golden/SCHEMA.md, "Generated inputs"). Many are made at once, where the CPU has AVX2
// four blocks side by side: inputs of the harness take most of their time here.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace assay {

class Words {
 public:
  Words(std::uint64_t seed, std::uint32_t stream) : seed_(seed), stream_(stream) {}
  std::uint32_t next() {
    if (next_ == kWords) make();
    return words_[next_++];
  }
  // Twelve of them; a multiple of twelve was handed out.
  std::span<const std::uint32_t, 12> next_twelve() {
    if (next_ == kWords) make();
    next_ += 12;
    return std::span<const std::uint32_t, 12>(&words_[next_ - 12], 12);
  }

 private:
  static constexpr std::size_t kWords = 96;

  void make();

  std::uint64_t seed_;
  std::uint32_t stream_;
  std::uint64_t block_ = 0;  // that is made next
  std::size_t next_ = kWords;
  std::array<std::uint32_t, kWords> words_{};
};

}  // namespace assay
