#include "reference/embed.h"

#include <stdexcept>
#include <string>

#include "reference/convert.h"
#include "reference/decode.h"

namespace assay::reference {

const Contract kEmbedF32Contract{"0 <= id < vocab; every f32", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kEmbedF16Contract{"0 <= id < vocab; every f16", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kEmbedBf16Contract{"0 <= id < vocab; every bf16", Exactness::exact, "bits equal", BiasUnit::none};

namespace {

// `widen` gives the f32 bits of element `index` of the table.
template <class Args, class Widen>
void embed(const Args& args, Expected& y, Widen widen) {
  std::vector<std::uint32_t> rows;
  rows.reserve(static_cast<std::size_t>(args.rows * args.n));
  for (std::int64_t j = 0; j < args.rows; ++j) {
    const std::int64_t id = args.ids[j];
    if (id < 0 || id >= args.vocab)
      throw std::invalid_argument("embed: ids[" + std::to_string(j) + "] = " + std::to_string(id) + ", vocab " +
                                  std::to_string(args.vocab));
    for (std::int64_t i = 0; i < args.n; ++i) rows.push_back(widen(id * args.n + i));
  }
  y = {};
  append_bytes(y.bytes, rows.data(), rows.size());
}

}  // namespace

void embed_f32(const EmbedF32Args& args, Expected& y) {
  embed(args, y, [&](std::int64_t index) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, args.table + index, sizeof(bits));
    return bits;
  });
}

void embed_f16(const EmbedF16Args& args, Expected& y) {
  embed(args, y, [&](std::int64_t index) { return widen_f16(args.table[index]); });
}

void embed_bf16(const EmbedBf16Args& args, Expected& y) {
  embed(args, y, [&](std::int64_t index) { return widen_bf16(args.table[index]); });
}

}  // namespace assay::reference
