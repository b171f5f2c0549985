#include "harness/interop/peers/ggml_product.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>
#include <sys/mman.h>

#include <cstdio>
#include <stdexcept>

namespace assay::peers {
namespace {

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Context = std::unique_ptr<ggml_context, Free<ggml_free>>;
using Backend = std::unique_ptr<ggml_backend, Free<ggml_backend_free>>;
using Buffer = std::unique_ptr<ggml_backend_buffer, Free<ggml_backend_buffer_free>>;

Context make_context(std::size_t tensors) {
  const ggml_init_params params{tensors * ggml_tensor_overhead() + ggml_graph_overhead_custom(tensors, false), nullptr, true};
  return Context(ggml_init(params));
}

// It prints a line for each tensor that it packs.
void keep_quiet(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
}

Backend make_backend() {
  ggml_log_set(keep_quiet, nullptr);
  Backend backend(ggml_backend_cpu_init());
  if (!backend) throw std::runtime_error("ggml has no CPU backend");
  ggml_backend_cpu_set_n_threads(backend.get(), 1);
  return backend;
}

ggml_type type_of(const Product& product) {
  for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
    const auto type = static_cast<ggml_type>(i);
    const char* const name = ggml_type_name(type);
    if (name != nullptr && std::string(name) == product.type) return type;
  }
  throw std::runtime_error(std::string("ggml knows no type ") + product.type);
}

std::vector<ggml_backend_buffer_type_t> buffer_types() {
  std::vector<ggml_backend_buffer_type_t> all{ggml_backend_cpu_buffer_type()};
  ggml_backend_dev_t device = ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);
  using Extra = ggml_backend_buffer_type_t* (*)(ggml_backend_dev_t);
  void* const address = ggml_backend_reg_get_proc_address(ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts");
  if (address == nullptr) return all;
  for (auto* extra = reinterpret_cast<Extra>(address)(device); extra != nullptr && *extra != nullptr; ++extra)
    all.push_back(*extra);
  return all;
}

// Asked as llama.cpp asks when it places a model's weights: with a tensor that already lies in such a buffer.
bool takes(ggml_backend_buffer_type_t buffer_type, const Product& product) {
  const Context context = make_context(8);
  const Buffer empty(ggml_backend_buft_alloc_buffer(buffer_type, 0));
  ggml_tensor* const w = ggml_new_tensor_2d(context.get(), type_of(product), product.k, product.n);
  ggml_tensor* const x = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, product.k, product.m);
  w->buffer = empty.get();
  return ggml_backend_dev_supports_op(ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0), ggml_mul_mat(context.get(), w, x));
}

// As our weights have them; ggml itself never asks.
void ask_for_huge_pages(ggml_backend_buffer_t buffer) {
  constexpr std::size_t kPage = 4096;
  void* first = ggml_backend_buffer_get_base(buffer);
  std::size_t bytes = ggml_backend_buffer_get_size(buffer);
  if (std::align(kPage, kPage, first, bytes) != nullptr) madvise(first, bytes, MADV_HUGEPAGE);
}

}  // namespace

struct GgmlProduct::Graph {
  Backend backend = make_backend();
  Context weights;
  Context nodes;
  Buffer weight_memory;
  Buffer node_memory;
  ggml_cgraph* graph = nullptr;
  ggml_tensor* first = nullptr;
};

std::vector<std::string> GgmlProduct::layouts(const Product& product) {
  std::vector<std::string> names;
  for (ggml_backend_buffer_type_t type : buffer_types()) {
    if (takes(type, product)) names.emplace_back(ggml_backend_buft_name(type));
  }
  return names;
}

GgmlProduct::GgmlProduct(const Product& product, const std::string& layout, std::size_t copies, std::span<const std::byte> w,
                         std::span<const float> x)
    : graph_(std::make_unique<Graph>()) {
  ggml_backend_buffer_type_t buffer_type = nullptr;
  for (ggml_backend_buffer_type_t type : buffer_types()) {
    if (layout == ggml_backend_buft_name(type)) buffer_type = type;
  }
  if (buffer_type == nullptr) throw std::runtime_error("ggml knows no layout " + layout);
  Graph& g = *graph_;
  g.weights = make_context(copies);
  g.nodes = make_context(copies + 1);
  ggml_tensor* const activations = ggml_new_tensor_2d(g.nodes.get(), GGML_TYPE_F32, product.k, product.m);
  g.graph = ggml_new_graph_custom(g.nodes.get(), copies + 1, false);
  std::vector<ggml_tensor*> matrices;
  for (std::size_t i = 0; i < copies; ++i) {
    matrices.push_back(ggml_new_tensor_2d(g.weights.get(), type_of(product), product.k, product.n));
    ggml_tensor* const y = ggml_mul_mat(g.nodes.get(), matrices.back(), activations);
    ggml_build_forward_expand(g.graph, y);
    if (i == 0) g.first = y;
  }
  g.weight_memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(g.weights.get(), buffer_type));
  g.node_memory.reset(ggml_backend_alloc_ctx_tensors(g.nodes.get(), g.backend.get()));
  if (!g.weight_memory || !g.node_memory) throw std::runtime_error("ggml found no memory for the tensors");
  ask_for_huge_pages(g.weight_memory.get());
  for (ggml_tensor* matrix : matrices) ggml_backend_tensor_set(matrix, w.data(), 0, w.size());
  ggml_backend_tensor_set(activations, x.data(), 0, x.size_bytes());
}

GgmlProduct::~GgmlProduct() = default;

void GgmlProduct::run() {
  if (ggml_backend_graph_compute(graph_->backend.get(), graph_->graph) != GGML_STATUS_SUCCESS) {
    throw std::runtime_error("ggml failed to compute mul_mat");
  }
}

std::vector<float> GgmlProduct::result() const {
  std::vector<float> y(static_cast<std::size_t>(ggml_nelements(graph_->first)));
  ggml_backend_tensor_get(graph_->first, y.data(), 0, y.size() * sizeof(float));
  return y;
}

}  // namespace assay::peers
