#include "tests/import_support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <map>

#include "golden/hdf5_writer.h"

namespace assay {
namespace {

struct NodeName {
  const char* name;
  const char* op;
  const char* src0;
};

// What stands for a site in the graph, {} being the layer.
const std::map<std::string, NodeName>& node_names() {
  static const std::map<std::string, NodeName> names{{"embed", {"embd", "GET_ROWS", "token_embd.weight"}},
                                                     {"attn_norm", {"attn_norm-{}", "MUL", "norm-{}"}},
                                                     {"q_proj", {"Qcur-{}", "MUL_MAT", "blk.{}.attn_q.weight"}},
                                                     {"k_proj", {"Kcur-{}", "MUL_MAT", "blk.{}.attn_k.weight"}},
                                                     {"v_proj", {"Vcur-{}", "MUL_MAT", "blk.{}.attn_v.weight"}},
                                                     {"q_norm", {"Qcur_normed-{}", "MUL", "norm-{}"}},
                                                     {"k_norm", {"Kcur_normed-{}", "MUL", "norm-{}"}},
                                                     {"q_rope", {"Qcur-{}", "ROPE", "Qcur_normed-{}"}},
                                                     {"k_rope", {"Kcur-{}", "ROPE", "Kcur_normed-{}"}},
                                                     {"attn", {"kqv_out-{}", "CONT", "kqv-{} (permuted)"}},
                                                     {"o_proj", {"node_32", "MUL_MAT", "blk.{}.attn_output.weight"}},
                                                     {"attn_residual", {"ffn_inp-{}", "ADD", "node_32"}},
                                                     {"ffn_norm", {"ffn_norm-{}", "MUL", "norm-{}"}},
                                                     {"gate_proj", {"ffn_gate-{}", "MUL_MAT", "blk.{}.ffn_gate.weight"}},
                                                     {"up_proj", {"ffn_up-{}", "MUL_MAT", "blk.{}.ffn_up.weight"}},
                                                     {"swiglu", {"ffn_swiglu-{}", "SWIGLU", "ffn_gate-{}"}},
                                                     {"down_proj", {"ffn_out-{}", "MUL_MAT", "blk.{}.ffn_down.weight"}},
                                                     {"ffn_residual", {"l_out-{}", "ADD", "ffn_out-{}"}},
                                                     {"final_norm", {"result_norm", "MUL", "norm"}},
                                                     {"lm_head", {"result_output", "MUL_MAT", "token_embd.weight"}}};
  return names;
}

std::string in_layer(const std::string& text, const std::string& layer) {
  const std::size_t at = text.find("{}");
  return at == std::string::npos ? text : std::string(text).replace(at, 2, layer);
}

void add_integers(const std::filesystem::path& path, const std::vector<DumpedNode>& nodes) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const hsize_t size = nodes[i].ne.size();
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t node = H5Dopen2(file, fmt::format("/nodes/{:04}", i).c_str(), H5P_DEFAULT);
    const hid_t attribute = H5Acreate2(node, "ne", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT64, nodes[i].ne.data());
    H5Aclose(attribute);
    H5Dclose(node);
    H5Sclose(space);
  }
  H5Fclose(file);
}

template <class T>
std::span<const std::uint8_t> bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

DumpedNode& LlamaDump::node(const std::string& name, const std::string& op) {
  const auto found = std::ranges::find_if(nodes, [&](const DumpedNode& one) { return one.name == name && one.op == op; });
  if (found == nodes.end()) throw std::invalid_argument("no node " + name + " " + op);
  return *found;
}

void LlamaDump::write(const std::filesystem::path& path) const {
  Hdf5Writer file(path, Hdf5Writer::Format::v108);
  file.set_attribute("/", "source", "an engine of the tests");
  file.write("/tokens", DType::i32, {std::ssize(tokens)}, bytes_of(tokens));
  file.write("/logits", DType::f32, {std::ssize(logits) / vocab, vocab}, bytes_of(logits));
  file.make_group("/nodes");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string dataset = fmt::format("/nodes/{:04}", i);
    // Leading ones are left out, down to two axes.
    std::vector<std::int64_t> shape(nodes[i].ne.rbegin(), nodes[i].ne.rend());
    while (shape.size() > 2 && shape.front() == 1) shape.erase(shape.begin());
    file.write(dataset, DType::f32, shape, bytes_of(nodes[i].values));
    file.set_attribute(dataset, "name", nodes[i].name);
    file.set_attribute(dataset, "op", nodes[i].op);
    file.set_attribute(dataset, "src0", nodes[i].src0);
  }
  file.commit();
  add_integers(path, nodes);
}

LlamaDump llama_dump(const TraceFile& trace, const std::string& name) {
  const TracePrompt prompt = trace.prompt(name);
  LlamaDump dump;
  dump.tokens = prompt.tokens;
  for (const std::string& site : prompt.sites) {
    const bool in_a_layer = site.starts_with("layers.");
    const std::string layer = in_a_layer ? std::to_string(std::stoi(site.substr(7))) : "";
    const NodeName& called = node_names().at(in_a_layer ? site.substr(site.find('.', 7) + 1) : site);
    const Array array = trace.site(prompt, site);
    DumpedNode node{in_layer(called.name, layer), called.op, in_layer(called.src0, layer), {}, {}};
    node.ne.assign(array.shape.rbegin(), array.shape.rend());
    node.ne.resize(4, 1);
    node.values.assign(array.as<float>(), array.as<float>() + array.elements());
    if (site == kLogitsSite) {
      dump.logits = node.values;
      dump.vocab = array.shape.back();
    }
    // A norm before its weight: one name for up to four nodes of a layer.
    if (node.op == "MUL") dump.nodes.push_back({node.src0, "RMS_NORM", "", node.ne, std::vector(node.values.size(), 0.5F)});
    dump.nodes.push_back(node);
    if (node.op == "MUL_MAT" && node.name.find("cur-") != std::string::npos) {
      dump.nodes.push_back({node.name, "RESHAPE", node.name, {128, node.ne[0] / 128, node.ne[1], 1}, node.values});
    }
  }
  return dump;
}

void write_hf_dump(const std::filesystem::path& path, const TraceFile& trace, const std::vector<std::string>& prompts,
                   const ChangeDataset& change) {
  Hdf5Writer file(path, Hdf5Writer::Format::v108);
  file.set_attribute("/", "model", trace.head("model"));
  file.set_attribute("/", "dtype", trace.head("dtype"));
  file.set_attribute("/", "source", "an engine of the tests");
  const auto write = [&](const std::string& dataset, Array values) {
    if (!change(dataset, values)) return false;
    file.write(dataset, values.dtype, values.shape, values.bytes);
    return true;
  };
  const auto column = [](const std::vector<std::int32_t>& ids) {
    const auto bytes = bytes_of(ids);
    return Array{DType::i32, {std::ssize(ids)}, {bytes.begin(), bytes.end()}};
  };
  for (const std::string& name : prompts) {
    const TracePrompt prompt = trace.prompt(name);
    const std::string group = "/" + name;
    file.make_group(group);
    file.set_attribute(group, "text", prompt.text);
    file.make_group(group + "/sites");
    write(group + "/tokens", column(prompt.tokens));
    write(group + "/positions", column(prompt.positions));
    std::int64_t step = 0;
    for (const std::string& site : prompt.sites) {
      const bool logits = site == kLogitsSite;
      const std::string dataset = logits ? group + "/logits" : group + "/sites/" + site;
      if (write(dataset, trace.site(prompt, site)) && !logits) file.set_attribute(dataset, "step", step++);
    }
    if (!prompt.greedy) continue;
    file.make_group(group + "/greedy");
    file.set_attribute(group + "/greedy", "text", " was dark");
    write(group + "/greedy/tokens", column(prompt.greedy->tokens));
    const auto gap = bytes_of(prompt.greedy->gap);
    write(group + "/greedy/gap", {DType::f32, {std::ssize(prompt.greedy->gap)}, {gap.begin(), gap.end()}});
  }
  file.commit();
}

void expect_same_prompt(const TraceFile& a, const TraceFile& b, const std::string& name, bool same_order) {
  TracePrompt one = a.prompt(name);
  TracePrompt other = b.prompt(name);
  if (!same_order) {
    std::ranges::sort(one.sites);
    std::ranges::sort(other.sites);
  }
  EXPECT_EQ(one.tokens, other.tokens) << name;
  EXPECT_EQ(one.positions, other.positions) << name;
  ASSERT_EQ(one.sites, other.sites) << name;
  for (const std::string& site : one.sites) {
    const Array x = a.site(one, site);
    const Array y = b.site(other, site);
    EXPECT_EQ(x.dtype, y.dtype) << site;
    EXPECT_EQ(x.shape, y.shape) << site;
    EXPECT_EQ(x.bytes, y.bytes) << site;
  }
}

}  // namespace assay
