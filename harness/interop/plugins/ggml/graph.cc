#include "harness/interop/plugins/ggml/graph.h"

namespace assay::plugins {
namespace {

constexpr std::size_t kNodes = 16;

}  // namespace

struct Graph::Memory {
  std::vector<char> context;
  std::vector<std::uint8_t> work;
  std::vector<float> scratch;
};

Graph::Memory& Graph::memory() {
  static thread_local Memory one{
      std::vector<char>(kNodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(kNodes, false)), {}, {}};
  return one;
}

Graph::Graph() {
  std::vector<char>& bytes = memory().context;
  context_ = ggml_init({bytes.size(), bytes.data(), true});
}

Graph::~Graph() {
  ggml_free(context_);
}

ggml_tensor* Graph::wrap(ggml_type type, std::int64_t ne0, std::int64_t ne1, const void* data, std::int64_t nb1) const {
  return into(ggml_new_tensor_2d(context_, type, ne0, ne1), const_cast<void*>(data), nb1);
}

ggml_tensor* Graph::wrap_3d(ggml_type type, std::int64_t ne0, std::int64_t ne1, std::int64_t ne2, const void* data,
                            std::int64_t nb1, std::int64_t nb2) const {
  ggml_tensor* const tensor = ggml_new_tensor_3d(context_, type, ne0, ne1, ne2);
  tensor->data = const_cast<void*>(data);
  tensor->nb[1] = static_cast<std::size_t>(nb1);
  tensor->nb[2] = static_cast<std::size_t>(nb2);
  tensor->nb[3] = tensor->nb[2] * static_cast<std::size_t>(ne2);
  return tensor;
}

ggml_tensor* Graph::into(ggml_tensor* node, void* data, std::int64_t nb1) {
  node->data = data;
  if (nb1 != 0) {
    node->nb[1] = static_cast<std::size_t>(nb1);
    node->nb[2] = node->nb[3] = node->nb[1] * static_cast<std::size_t>(node->ne[1]);
  }
  return node;
}

ggml_tensor* Graph::into_scratch(ggml_tensor* node) const {
  std::vector<float>& scratch = memory().scratch;
  scratch.resize(static_cast<std::size_t>(ggml_nelements(node)));
  return into(node, scratch.data());
}

const float* Graph::scratch() const {
  return memory().scratch.data();
}

bool Graph::compute(ggml_tensor* node) const {
  ggml_cgraph* const graph = ggml_new_graph_custom(context_, kNodes, false);
  ggml_build_forward_expand(graph, node);
  ggml_cplan plan = ggml_graph_plan(graph, 1, nullptr);
  std::vector<std::uint8_t>& work = memory().work;
  if (work.size() < plan.work_size) work.resize(plan.work_size);
  plan.work_data = work.data();
  return ggml_graph_compute(graph, &plan) == GGML_STATUS_SUCCESS;
}

}  // namespace assay::plugins
