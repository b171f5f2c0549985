#include "engine/run/lookups.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

template <class Op>
AssayStatus embed(const Chosen& chosen, const LookupCall& call) {
  typename Op::Args args{};
  args.table = reinterpret_cast<decltype(args.table)>(call.table);
  args.ids = call.ids;
  args.y = call.y;
  args.vocab = call.vocab;
  args.rows = call.rows;
  args.n = args.y_stride = call.n;
  return invoke<Op>(chosen, args);
}

template <class Op>
AssayStatus decode(const Chosen& chosen, const LookupCall& call) {
  for (std::int64_t j = 0; j < call.rows; ++j) {
    if (call.ids[j] < 0 || call.ids[j] >= call.vocab) return ASSAY_OUT_OF_RANGE;
    typename Op::Args args{};
    args.src = reinterpret_cast<decltype(args.src)>(call.table + call.ids[j] * call.row_bytes);
    args.dst = call.y + j * call.n;
    args.n = call.n;
    const AssayStatus status = invoke<Op>(chosen, args);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

struct LookupOf {
  std::string_view op;
  RunLookup run;
};

constexpr std::array<LookupOf, 11> kLookups{{{EmbedF32::name, embed<EmbedF32>},
                                             {EmbedF16::name, embed<EmbedF16>},
                                             {EmbedBf16::name, embed<EmbedBf16>},
                                             {DecodeQ40::name, decode<DecodeQ40>},
                                             {DecodeQ41::name, decode<DecodeQ41>},
                                             {DecodeQ50::name, decode<DecodeQ50>},
                                             {DecodeQ51::name, decode<DecodeQ51>},
                                             {DecodeQ80::name, decode<DecodeQ80>},
                                             {DecodeQ4K::name, decode<DecodeQ4K>},
                                             {DecodeQ5K::name, decode<DecodeQ5K>},
                                             {DecodeQ6K::name, decode<DecodeQ6K>}}};

}  // namespace

RunLookup lookup_runner(std::string_view op) {
  const auto* const found = std::ranges::find(kLookups, op, &LookupOf::op);
  if (found == kLookups.end()) throw std::logic_error("the engine looks no rows up by " + std::string(op));
  return found->run;
}

}  // namespace assay
