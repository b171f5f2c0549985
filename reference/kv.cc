#include "reference/kv.h"

#include <stdexcept>
#include <string>

#include "reference/convert.h"
#include "reference/decode.h"

namespace assay::reference {

const Contract kKvStoreF32Contract{"0 <= position <= capacity - tokens; every f32", Exactness::exact, "bits equal",
                                   BiasUnit::none};
const Contract kKvStoreF16Contract{"0 <= position <= capacity - tokens; every f32", Exactness::exact,
                                   "bits equal: nearest even, overflow to infinity, a NaN's sign and top payload kept, quiet",
                                   BiasUnit::none};
const Contract kKvRepackF32Contract{"0 <= positions <= both capacities; every f32", Exactness::exact, "bits equal",
                                    BiasUnit::none};
const Contract kKvRepackF16Contract{"0 <= positions <= both capacities; every f16", Exactness::exact, "bits equal",
                                    BiasUnit::none};
const Contract kLogitsCopyToPositionContract{"0 <= position < positions; every f32", Exactness::exact, "bits equal",
                                             BiasUnit::none};

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

// `convert` gives the cache's bits of one source number.
template <class Bits, class Convert>
void store(const KvStoreArgs& args, Expected& dst, Convert convert) {
  require(args.head_dim <= args.head_dim_padded, "kv_store: head_dim above head_dim_padded");
  require(args.position >= 0 && args.position + args.tokens <= args.capacity,
          "kv_store: position " + std::to_string(args.position) + " + " + std::to_string(args.tokens) + " tokens, capacity " +
              std::to_string(args.capacity));
  std::vector<Bits> rows;
  for (std::int64_t h = 0; h < args.n_kv; ++h) {
    for (std::int64_t t = 0; t < args.tokens; ++t) {
      const float* src = args.src + t * args.src_row_stride + h * args.src_head_stride;
      for (std::int64_t d = 0; d < args.head_dim_padded; ++d) rows.push_back(d < args.head_dim ? convert(src[d]) : Bits{0});
    }
  }
  dst = {};
  append_bytes(dst.bytes, rows.data(), rows.size());
}

const std::uint8_t* element(DType dtype, const void* base, std::int64_t index) {
  return static_cast<const std::uint8_t*>(base) + index * static_cast<std::int64_t>(dtype_size(dtype));
}

}  // namespace

void kv_store(DType cache, const KvStoreArgs& args, Expected& dst) {
  if (cache == DType::f16) return store<std::uint16_t>(args, dst, narrow<Half>);
  store<std::uint32_t>(args, dst, [](float x) { return std::bit_cast<std::uint32_t>(x); });
}

void kv_repack(DType cache, const KvRepackArgs& args, Expected& data) {
  require(args.positions >= 0 && args.positions <= std::min(args.capacity_src, args.capacity_dst),
          "kv_repack: " + std::to_string(args.positions) + " positions, capacities " + std::to_string(args.capacity_src) +
              " and " + std::to_string(args.capacity_dst));
  const auto bytes_of = [cache](std::int64_t elements) { return static_cast<std::size_t>(elements) * dtype_size(cache); };
  const std::int64_t layout = args.n_kv * args.capacity_dst * args.row;
  const std::int64_t buffer = args.n_kv * std::max(args.capacity_src, args.capacity_dst) * args.row;
  data = {};
  append_bytes(data.bytes, element(cache, args.data, 0), bytes_of(buffer));
  std::fill_n(data.bytes.begin(), bytes_of(layout), std::uint8_t{0});
  for (std::int64_t h = 0; h < args.n_kv && args.row > 0; ++h) {
    std::memcpy(data.bytes.data() + bytes_of(h * args.capacity_dst * args.row),
                element(cache, args.data, h * args.capacity_src * args.row), bytes_of(args.positions * args.row));
  }
}

void kv_copy(DType cache, const KvCopyArgs& args, Expected& dst) {
  require(args.src_row_stride >= args.head_dim && args.dst_row_stride >= args.head_dim, "kv_copy: a row stride below head_dim");
  dst = {};
  for (std::int64_t h = 0; h < args.n_kv; ++h) {
    for (std::int64_t p = 0; p < args.positions; ++p) {
      append_bytes(dst.bytes, element(cache, args.src, h * args.src_head_stride + p * args.src_row_stride),
                   static_cast<std::size_t>(args.head_dim) * dtype_size(cache));
    }
  }
}

void logits_copy_to_position(const LogitsCopyToPositionArgs& args, Expected& dst) {
  require(args.position >= 0 && args.position < args.positions,
          "logits_copy_to_position: position " + std::to_string(args.position) + " of " + std::to_string(args.positions));
  dst = {};
  append_bytes(dst.bytes, args.src, static_cast<std::size_t>(args.vocab));
}

}  // namespace assay::reference
