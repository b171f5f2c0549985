// ggml's mul_mat over one matrix of weights, as a user of ggml calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::peers {

// y = x w^T on one thread: w [n, k] blocks of a quantised type, x [m, k] and y [m, n] f32.
struct Product {
  const char* type;  // ggml's name of it: "q4_K"
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

class GgmlProduct {
 public:
  // The ways in which this build of ggml can keep weights of that type: "CPU" as the file has them, others
  // (such as "CPU_REPACK") in an order of its own.
  static std::vector<std::string> layouts(const Product& product);

  // `copies` tensors of the same weights, that take turns and so come from memory, not from a cache. `w` holds the
  // matrix once, `x` the activations. Throws std::runtime_error where ggml knows no such type or layout.
  GgmlProduct(const Product& product, const std::string& layout, std::size_t copies, std::span<const std::byte> w,
              std::span<const float> x);
  ~GgmlProduct();
  GgmlProduct(const GgmlProduct&) = delete;
  GgmlProduct& operator=(const GgmlProduct&) = delete;

  // Every copy once.
  void run();
  // Row-major [m, n], of the first copy.
  std::vector<float> result() const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace assay::peers
