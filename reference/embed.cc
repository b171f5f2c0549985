#include "reference/embed.h"

#include <stdexcept>
#include <string>

#include "reference/convert.h"
#include "reference/decode.h"

namespace assay::reference {
namespace {

// `widen` gives the f32 bits of element `index` of the table.
template <class Widen>
void embed(const EmbedArgs& args, Expected& y, Widen widen) {
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

void embed(DType table, const EmbedArgs& args, Expected& y) {
  if (table == DType::f32)
    return embed(args, y, [&](std::int64_t i) { return static_cast<const std::uint32_t*>(args.table)[i]; });
  const auto* numbers = static_cast<const std::uint16_t*>(args.table);
  const auto widen = table == DType::f16 ? widen_f16 : widen_bf16;
  embed(args, y, [&](std::int64_t i) { return widen(numbers[i]); });
}

}  // namespace assay::reference
