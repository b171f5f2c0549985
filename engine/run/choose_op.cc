#include "engine/run/choose_op.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

struct Chooser {
  std::string_view op;
  Chosen (*choose)(Isa limit);
};

template <class... Ops>
constexpr std::array<Chooser, sizeof...(Ops)> choosers() {
  return {{{Ops::name, choose<Ops>}...}};
}

constexpr auto kChoosers =
    choosers<RopeTable, EmbedF32, EmbedF16, EmbedBf16, DecodeQ40, DecodeQ41, DecodeQ50, DecodeQ51, DecodeQ80, DecodeQ4K,
             DecodeQ5K, DecodeQ6K, RmsNorm, QuantizeQ80, QuantizeQ8K, MatvecF32, MatvecF16, MatvecBf16, GemmF32, GemmF16,
             GemmBf16, GemvQ40Q80, GemvQ50Q80, GemvQ80X16Q80, GemvQ4KX16Q8K, GemvQ5KQ8K, GemvQ6KX16Q8K, GemmQ40Q80, GemmQ50Q80,
             GemmQ80X16Q80, GemmQ4KX16Q8K, GemmQ5KQ8K, GemmQ6KX16Q8K, LinearQ40, LinearQ50, LinearQ80, LinearQ4K, LinearQ5K,
             LinearQ6K, Rope, KvStoreF32, KvStoreF16, AttnDecodeF32, AttnDecodeF16, AttnPrefillF32, AttnPrefillF16, Add,
             Swiglu>();

}  // namespace

Chosen choose_op(std::string_view op, Isa limit) {
  const auto* const found = std::ranges::find(kChoosers, op, &Chooser::op);
  if (found == kChoosers.end()) throw std::logic_error("no step of the engine uses " + std::string(op));
  return found->choose(limit);
}

}  // namespace assay
