// The same product by Assay's kernels, as an engine calls them: activations quantised, then gemv or gemm over packed weights.
#pragma once

#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "harness/interop/peers/ggml_product.h"
#include "harness/verdict/bench/buffer.h"
#include "kernels/kernel.h"

namespace assay::peers {

// A pair of formats: its blocks' sizes and the ops that serve it. Pack is void where no packed layout exists.
template <class EncodeOp, class PackOp, class QuantizeOp, class GemvOp, class GemmOp, int kBlockElements>
struct Formats {
  using Encode = EncodeOp;
  using Pack = PackOp;
  using Quantize = QuantizeOp;
  using Gemv = GemvOp;
  using Gemm = GemmOp;
  static constexpr std::int64_t kElements = kBlockElements;
};

template <class Op>
void call(const typename Op::Args& args) {
  static const KernelFn<Op> run = select_kernel<Op>().run;
  if (const AssayStatus status = run(&args); status != ASSAY_OK) {
    throw std::runtime_error(std::string(Op::name) + " refused: status " + std::to_string(static_cast<int>(status)));
  }
}

std::vector<float> gaussian(std::size_t count, std::uint64_t seed);

template <class F>
class OurProduct {
  using PlainBlock = std::remove_pointer_t<decltype(std::declval<typename F::Encode::Args>().dst)>;
  using WeightBlock = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<typename F::Gemv::Args>().w)>>;
  using XBlock = std::remove_pointer_t<decltype(std::declval<typename F::Quantize::Args>().dst)>;

 public:
  // Blocks of encoded Gaussian floats, the same few over and over: an encoder's search would take minutes.
  static std::vector<std::byte> weights(const Product& p) {
    constexpr std::int64_t kDistinct = 4096;
    const auto source = gaussian(static_cast<std::size_t>(kDistinct * F::kElements), 1);
    std::vector<PlainBlock> blocks(kDistinct);
    call<typename F::Encode>({source.data(), blocks.data(), kDistinct * F::kElements});
    const std::int64_t total = p.n * p.k / F::kElements;
    std::vector<std::byte> bytes(static_cast<std::size_t>(total) * sizeof(PlainBlock));
    // An odd step, so that no two rows are alike.
    for (std::int64_t i = 0; i < total; ++i) {
      const auto& block = blocks[static_cast<std::size_t>((i * 7 + i / kDistinct) % kDistinct)];
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(PlainBlock), &block, sizeof(PlainBlock));
    }
    return bytes;
  }

  OurProduct(const Product& p, std::size_t copies, std::span<const std::byte> w, std::span<const float> x)
      : p_(p),
        x_(x),
        matrix_bytes_(packed_bytes(p)),
        memory_(matrix_bytes_ * copies, bench::Pages::huge),
        copies_(copies),
        quantised_(static_cast<std::size_t>(p.m * blocks())),
        y_(static_cast<std::size_t>(p.m * p.n)) {
    pack(w);
    for (std::size_t i = 1; i < copies; ++i) std::memcpy(memory_.data() + i * matrix_bytes_, memory_.data(), matrix_bytes_);
  }

  void run() {
    for (std::size_t i = 0; i < copies_; ++i) multiply(matrix(i));
  }
  const std::vector<float>& result() const { return y_; }
  // What one product reads and writes at least.
  double bytes() const {
    return static_cast<double>(matrix_bytes_) + 4 * static_cast<double>(x_.size()) + 4 * static_cast<double>(y_.size());
  }

 private:
  std::int64_t blocks() const { return p_.k / F::kElements; }
  static std::size_t packed_bytes(const Product& p) {
    constexpr std::int64_t kRows = std::is_void_v<typename F::Pack> ? 1 : 16;
    return static_cast<std::size_t>((p.n + kRows - 1) / kRows * (p.k / F::kElements)) * sizeof(WeightBlock);
  }
  WeightBlock* matrix(std::size_t copy) {
    return static_cast<WeightBlock*>(static_cast<void*>(memory_.data() + copy * matrix_bytes_));
  }
  void pack(std::span<const std::byte> w) {
    if constexpr (std::is_void_v<typename F::Pack>) {
      std::memcpy(memory_.data(), w.data(), w.size());
    } else {
      call<typename F::Pack>({static_cast<const PlainBlock*>(static_cast<const void*>(w.data())), matrix(0), p_.n, p_.k});
    }
  }
  void multiply(const WeightBlock* w) {
    call<typename F::Quantize>({x_.data(), quantised_.data(), p_.m, p_.k, p_.k, blocks()});
    if (p_.m == 1) {
      call<typename F::Gemv>({w, quantised_.data(), y_.data(), p_.n, p_.k});
    } else {
      call<typename F::Gemm>({w, quantised_.data(), y_.data(), p_.m, p_.n, p_.k, blocks(), p_.n});
    }
  }

  Product p_;
  std::span<const float> x_;
  std::size_t matrix_bytes_;
  bench::PageBuffer memory_;
  std::size_t copies_;
  std::vector<XBlock> quantised_;
  std::vector<float> y_;
};

}  // namespace assay::peers
