#include "harness/verdict/call_image.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

std::uint64_t word_at(std::span<const std::byte> block, std::size_t offset) {
  std::uint64_t word;
  std::memcpy(&word, block.data() + offset, sizeof word);
  return word;
}

// Its offset is from the start of the mapping for writing, wherever it is seen: the word that points to it may point before it.
PlaceInMemory place_of(const void* address, std::span<const GuardedMemory> memory) {
  const auto* const base = static_cast<const std::uint8_t*>(address);
  for (std::size_t m = 0; m < memory.size(); ++m) {
    if (memory[m].owns(base)) return {m, memory[m].writable(base) - memory[m].begin()};
  }
  throw std::logic_error("a tensor lies in no memory of its call");
}

// How far tensor t is moved: both halves of a word move, so that no number of half a word looks like a pointer.
std::uint64_t shift(std::size_t tensor) {
  return (tensor + 1) * 0x100000008U;
}

class ImageOfCall {
 public:
  ImageOfCall(const Op& op, const CallPart& part, const std::function<PlaceInMemory(const void*)>& place)
      : op_(op), part_(part), place_(place), args_(op, part.params, part.pointers, part.instead) {}

  CallImage make() {
    add_struct();
    add_arrays();
    for (std::size_t a = 0; a < args_.arrays().size(); ++a) {
      image_.part.pointers.push_back({0, args_.arrays()[a].offset, true, static_cast<std::uint32_t>(a + 1), 0});
    }
    return std::move(image_);
  }

 private:
  void add_block(std::span<const std::byte> bytes) { image_.part.blocks.emplace_back(bytes.begin(), bytes.end()); }

  void add_pointer(std::size_t offset, std::size_t tensor) {
    const auto block = static_cast<std::uint32_t>(image_.part.blocks.size() - 1);
    const PlaceInMemory place = place_(part_.pointers[tensor]);
    const std::uint64_t value = word_at(image_.part.blocks.back(), offset);
    const auto addend =
        static_cast<std::int64_t>(value - reinterpret_cast<std::uintptr_t>(part_.pointers[tensor])) + place.offset;
    image_.part.pointers.push_back({block, offset, false, static_cast<std::uint32_t>(place.memory), addend});
    image_.tensors.push_back(tensor);
  }

  // A pointer may begin before its tensor, and where the op refuses the call it may be null.
  void add_struct() {
    add_block({static_cast<const std::byte*>(args_.data()), args_.size()});
    const Signature signature = signature_of(op_, part_.params);
    for (const Field& field : op_.family->fields) {
      if (field.kind != FieldKind::tensor || word_at(image_.part.blocks.back(), field.offset) == 0) continue;
      const auto spec = std::ranges::find(signature.tensors, field.name, &TensorSpec::name);
      if (spec != signature.tensors.end()) add_pointer(field.offset, static_cast<std::size_t>(spec - signature.tensors.begin()));
    }
  }

  // Their words that move with a tensor's base pointer are those that point into it.
  void add_arrays() {
    std::vector<void*> moved;
    for (std::size_t t = 0; t < part_.pointers.size(); ++t) {
      const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(part_.pointers[t]) + shift(t);
      moved.push_back(reinterpret_cast<void*>(address));  // NOLINT(performance-no-int-to-ptr): it is only compared
    }
    const Arguments other(op_, part_.params, moved, part_.instead);
    for (std::size_t a = 0; a < args_.arrays().size(); ++a) {
      const std::vector<std::byte>& bytes = args_.arrays()[a].bytes;
      add_block(bytes);
      for (std::size_t offset = 0; offset + sizeof(void*) <= bytes.size(); offset += sizeof(void*)) {
        const std::uint64_t distance = word_at(other.arrays()[a].bytes, offset) - word_at(bytes, offset);
        for (std::size_t t = 0; t < part_.pointers.size(); ++t) {
          if (distance == shift(t)) add_pointer(offset, t);
        }
      }
    }
  }

  const Op& op_;
  const CallPart& part_;
  const std::function<PlaceInMemory(const void*)>& place_;
  Arguments args_;
  CallImage image_;
};

}  // namespace

CallImage call_image(const Op& op, const CallPart& part, std::span<const GuardedMemory> memory) {
  return call_image(op, part, [&](const void* address) { return place_of(address, memory); });
}

CallImage call_image(const Op& op, const CallPart& part, const std::function<PlaceInMemory(const void*)>& place) {
  return ImageOfCall(op, part, place).make();
}

}  // namespace assay
