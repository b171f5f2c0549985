// One ggml operation over memory that the caller has: a graph of a few nodes, computed on this thread.
#pragma once

#include <ggml-cpu.h>
#include <ggml.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::plugins {

class Graph {
 public:
  // Graphs of one thread share their memory: one at a time.
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  ggml_context* context() const { return context_; }

  // A tensor over `data`: ne0 fastest. Strides in bytes; 0: without a gap.
  ggml_tensor* wrap(ggml_type type, std::int64_t ne0, std::int64_t ne1, const void* data, std::int64_t nb1 = 0) const;
  ggml_tensor* wrap_3d(ggml_type type, std::int64_t ne0, std::int64_t ne1, std::int64_t ne2, const void* data, std::int64_t nb1,
                       std::int64_t nb2) const;

  // The node's result goes to `data`, its rows nb1 bytes apart (0: without a gap).
  static ggml_tensor* into(ggml_tensor* node, void* data, std::int64_t nb1 = 0);
  // To memory of the graph's own, which lasts until the next graph of this thread.
  ggml_tensor* into_scratch(ggml_tensor* node) const;
  const float* scratch() const;

  // Everything that `node` needs. False where ggml gives up.
  bool compute(ggml_tensor* node) const;

 private:
  struct Memory;
  static Memory& memory();
  ggml_context* context_;
};

}  // namespace assay::plugins
