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
const Contract kKvCopyF32Contract{"every f32", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kKvCopyF16Contract{"every f16", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kLogitsCopyToPositionContract{"0 <= position < positions; every f32", Exactness::exact, "bits equal",
                                             BiasUnit::none};

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

// `convert` gives the cache's bits of one source number.
template <class Bits, class Args, class Convert>
void store(const Args& args, Expected& dst, Convert convert) {
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

template <class Element, class Args>
void repack(const Args& args, Expected& data) {
  require(args.positions >= 0 && args.positions <= std::min(args.capacity_src, args.capacity_dst),
          "kv_repack: " + std::to_string(args.positions) + " positions, capacities " + std::to_string(args.capacity_src) +
              " and " + std::to_string(args.capacity_dst));
  const std::int64_t layout = args.n_kv * args.capacity_dst * args.row;
  const std::int64_t buffer = args.n_kv * std::max(args.capacity_src, args.capacity_dst) * args.row;
  data = {};
  append_bytes(data.bytes, args.data, static_cast<std::size_t>(buffer));
  const auto bytes_of = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(Element); };
  std::fill(data.bytes.begin(), data.bytes.begin() + static_cast<std::ptrdiff_t>(bytes_of(layout)), std::uint8_t{0});
  for (std::int64_t h = 0; h < args.n_kv && args.row > 0; ++h) {
    std::memcpy(data.bytes.data() + bytes_of(h * args.capacity_dst * args.row), args.data + h * args.capacity_src * args.row,
                bytes_of(args.positions * args.row));
  }
}

template <class Args>
void copy(const Args& args, Expected& dst) {
  require(args.src_row_stride >= args.head_dim && args.dst_row_stride >= args.head_dim, "kv_copy: a row stride below head_dim");
  dst = {};
  for (std::int64_t h = 0; h < args.n_kv; ++h) {
    for (std::int64_t p = 0; p < args.positions; ++p) {
      append_bytes(dst.bytes, args.src + h * args.src_head_stride + p * args.src_row_stride,
                   static_cast<std::size_t>(args.head_dim));
    }
  }
}

}  // namespace

void kv_store_f32(const KvStoreF32Args& args, Expected& dst) {
  store<std::uint32_t>(args, dst, [](float x) { return std::bit_cast<std::uint32_t>(x); });
}
void kv_store_f16(const KvStoreF16Args& args, Expected& dst) {
  store<std::uint16_t>(args, dst, narrow<Half>);
}
void kv_repack_f32(const KvRepackF32Args& args, Expected& data) {
  repack<float>(args, data);
}
void kv_repack_f16(const KvRepackF16Args& args, Expected& data) {
  repack<std::uint16_t>(args, data);
}
void kv_copy_f32(const KvCopyF32Args& args, Expected& dst) {
  copy(args, dst);
}
void kv_copy_f16(const KvCopyF16Args& args, Expected& dst) {
  copy(args, dst);
}

void logits_copy_to_position(const LogitsCopyToPositionArgs& args, Expected& dst) {
  require(args.position >= 0 && args.position < args.positions,
          "logits_copy_to_position: position " + std::to_string(args.position) + " of " + std::to_string(args.positions));
  dst = {};
  append_bytes(dst.bytes, args.src, static_cast<std::size_t>(args.vocab));
}

}  // namespace assay::reference
