#include "harness/verdict/call_image.h"

#include <cstring>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

// An address that nothing lies at.
void* made_up(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): it is only compared
}

// How far tensor t is moved: both halves of a word move, so that no number of half a word looks like a pointer.
std::uint64_t shift(std::size_t tensor) {
  return (tensor + 1) * 0x100000008U;
}

struct PointerWord {
  std::size_t block;
  std::size_t offset;
  std::size_t tensor;
  std::uint64_t value;
};

std::uint64_t word_at(const std::vector<std::byte>& block, std::size_t offset) {
  std::uint64_t word;
  std::memcpy(&word, block.data() + offset, sizeof word);
  return word;
}

// Binds twice, the second time with every tensor moved by a distance of its own.
std::vector<PointerWord> pointer_words(const Adapter& adapter, const Params& params, std::span<void* const> tensors,
                                       const ArgsImage& image) {
  std::vector<void*> moved;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    moved.push_back(made_up(reinterpret_cast<std::uintptr_t>(tensors[t]) + shift(t)));
  }
  const ArgsImage other = adapter.image(params, moved);
  std::vector<PointerWord> words;
  for (std::size_t b = 0; b < image.blocks.size(); ++b) {
    for (std::size_t offset = 0; offset + sizeof(void*) <= image.blocks[b].size(); offset += sizeof(void*)) {
      const std::uint64_t value = word_at(image.blocks[b], offset);
      const std::uint64_t distance = word_at(other.blocks[b], offset) - value;
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        if (distance == shift(t)) words.push_back({b, offset, t, value});
      }
    }
  }
  return words;
}

std::size_t memory_of(const void* address, std::span<const GuardedMemory> memory) {
  for (std::size_t m = 0; m < memory.size(); ++m) {
    if (memory[m].owns(address)) return m;
  }
  throw std::logic_error("a tensor lies in no memory of its call");
}

}  // namespace

CallImage call_image(const Adapter& adapter, const Params& params, std::span<void* const> tensors,
                     std::span<const GuardedMemory> memory) {
  ArgsImage args = adapter.image(params, tensors);
  CallImage image;
  for (const PointerWord& word : pointer_words(adapter, params, tensors, args)) {
    const std::size_t m = memory_of(tensors[word.tensor], memory);
    const auto addend = static_cast<std::int64_t>(word.value - reinterpret_cast<std::uintptr_t>(memory[m].begin()));
    image.part.pointers.push_back(
        {static_cast<std::uint32_t>(word.block), word.offset, false, static_cast<std::uint32_t>(m), addend});
    image.tensors.push_back(word.tensor);
  }
  for (const ArgsImage::Link& link : args.links) {
    image.part.pointers.push_back({0, link.offset, true, static_cast<std::uint32_t>(link.block), 0});
  }
  image.part.blocks = std::move(args.blocks);
  return image;
}

std::optional<std::size_t> pointer_offset(const Adapter& adapter, const Params& params, std::string_view tensor) {
  const Signature signature = adapter.signature(params);
  std::vector<void*> tensors;
  for (std::size_t t = 0; t < signature.tensors.size(); ++t) tensors.push_back(made_up((t + 1) * 0x10000000000U));
  for (const PointerWord& word : pointer_words(adapter, params, tensors, adapter.image(params, tensors))) {
    if (word.block == 0 && signature.tensors[word.tensor].name == tensor) return word.offset;
  }
  return std::nullopt;
}

}  // namespace assay
