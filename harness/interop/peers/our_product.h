// The same product by Assay's kernels, as an engine calls them: activations quantised, then gemv or gemm over packed weights.
#pragma once

#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "golden/dtype.h"
#include "harness/interop/peers/ggml_product.h"
#include "harness/verdict/bench/buffer.h"
#include "kernels/op_tables.h"
#include "reference/ops/status.h"

namespace assay::peers {

// A pair of formats, and the ops that serve it.
struct Formats {
  DType plain;    // weights as the file has them
  DType weights;  // as ours read them: plain, or packed
  DType x;
  const OpTable& encode;
  const OpTable* pack;  // null: there is no packed layout
  const OpTable& quantize;
  const OpTable& gemv;
  const OpTable& gemm;
};

template <class Args>
void call(const OpTable& op, const Args& args) {
  if (const AssayStatus status = select_kernel(op).run(&args); status != ASSAY_OK) {
    throw std::runtime_error(std::string(op.op) + " refused: " + std::string(status_name(status)));
  }
}

std::vector<float> gaussian(std::size_t count, std::uint64_t seed);

class OurProduct {
 public:
  // Blocks of encoded Gaussian floats, the same few over and over: an encoder's search would take minutes.
  static std::vector<std::byte> encoded(const Formats& f, const Product& p) {
    constexpr std::int64_t kDistinct = 4096;
    const std::int64_t elements = dtype_numbers(f.plain);
    const std::size_t size = dtype_size(f.plain);
    const auto source = gaussian(static_cast<std::size_t>(kDistinct * elements), 1);
    std::vector<std::byte> blocks(kDistinct * size);
    call(f.encode, CodecArgs{source.data(), blocks.data(), 1, kDistinct * elements, 0, 0});
    const std::int64_t total = p.n * p.k / elements;
    std::vector<std::byte> bytes(static_cast<std::size_t>(total) * size);
    // An odd step, so that no two rows are alike.
    for (std::int64_t i = 0; i < total; ++i) {
      const auto from = static_cast<std::size_t>((i * 7 + i / kDistinct) % kDistinct);
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * size, blocks.data() + from * size, size);
    }
    return bytes;
  }

  OurProduct(const Formats& f, const Product& p, std::size_t copies, std::span<const std::byte> w, std::span<const float> x)
      : f_(f),
        p_(p),
        x_(x),
        matrix_bytes_(packed_bytes()),
        memory_(matrix_bytes_ * copies, bench::Pages::huge),
        copies_(copies),
        quantised_(static_cast<std::size_t>(p.m * blocks()) * dtype_size(f.x)),
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
  std::int64_t blocks() const { return p_.k / dtype_numbers(f_.plain); }
  std::size_t packed_bytes() const {
    const std::int64_t rows = f_.pack == nullptr ? 1 : kPackedRows;
    return static_cast<std::size_t>((p_.n + rows - 1) / rows * blocks()) * dtype_size(f_.weights);
  }
  std::byte* matrix(std::size_t copy) { return memory_.data() + copy * matrix_bytes_; }
  void pack(std::span<const std::byte> w) {
    if (f_.pack == nullptr) {
      std::memcpy(memory_.data(), w.data(), w.size());
    } else {
      call(*f_.pack, PackArgs{w.data(), matrix(0), p_.n, p_.k, 0, 0});
    }
  }
  void multiply(const std::byte* w) {
    call(f_.quantize, CodecArgs{x_.data(), quantised_.data(), p_.m, p_.k, p_.k, blocks()});
    call(p_.m == 1 ? f_.gemv : f_.gemm, ProductArgs{w, quantised_.data(), y_.data(), p_.m, p_.n, p_.k, blocks(), p_.n});
  }

  const Formats& f_;
  Product p_;
  std::span<const float> x_;
  std::size_t matrix_bytes_;
  bench::PageBuffer memory_;
  std::size_t copies_;
  std::vector<std::byte> quantised_;
  std::vector<float> y_;
};

}  // namespace assay::peers
