// Arrays of any engine, by a map: layouts that are spelt out, .npz archives made byte by byte, safetensors; refusals by name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness/forensics/audit/audit.h"
#include "harness/interop/import/array_map.h"
#include "harness/verdict/suite.h"
#include "tests/import_support.h"
#include "tests/temporary.h"
#include "tests/zip_image.h"

namespace assay::import_arrays_test {
namespace {

using nlohmann::json;

TEST(Layout, AxesAreNamedOnceAndWhole) {
  EXPECT_EQ(layout_text(parse_layout("batch,head,token,dim")), "batch,head,token,dim");
  EXPECT_EQ(parse_layout("row,feature"), (std::vector{Axis::row, Axis::feature}));
  const std::pair<const char*, const char*> wrong[] = {
      {"", "unknown axis ''"},
      {"row,features", "unknown axis 'features'; the nearest is 'feature'"},
      {"row, feature", "unknown axis ' feature'"},
      {"row,row,feature", "has the axis row twice"},
      {"batch,feature", "needs one of token and row"},
      {"token,row,feature", "needs one of token and row"},
      {"row,head", "needs either feature or head and dim"},
      {"row,head,dim,feature", "needs either feature or head and dim"},
      {"row", "needs either feature or head and dim"},
  };
  for (const auto& [layout, message] : wrong) {
    expect_mentions(message_of([&, text = layout] { parse_layout(text); }), {message});
  }
}

// Element (token t, head h, dim d) of every layout has the value 100 t + 10 h + d.
TEST(Layout, RowsAreTheSameFromEveryOrderOfAxes) {
  constexpr std::int64_t kTokens = 5;
  constexpr std::int64_t kHeads = 3;
  constexpr std::int64_t kDim = 4;
  const std::vector<std::int32_t> positions{1, 4};
  for (const char* text : {"token,head,dim", "head,token,dim", "batch,head,token,dim", "dim,head,token", "head,dim,token,batch",
                           "row,head,dim", "dim,batch,row,head"}) {
    const std::vector<Axis> axes = parse_layout(text);
    const std::map<Axis, std::int64_t> lengths{
        {Axis::batch, 1}, {Axis::token, kTokens}, {Axis::row, 2}, {Axis::head, kHeads}, {Axis::dim, kDim}};
    std::vector<std::int64_t> shape;
    std::int64_t elements = 1;
    for (const Axis axis : axes) shape.push_back(lengths.at(axis));
    for (const std::int64_t length : shape) elements *= length;
    std::vector<std::int16_t> values;
    for (std::int64_t i = 0; i < elements; ++i) {
      std::map<Axis, std::int64_t> index;
      std::int64_t rest = i;
      for (std::size_t a = axes.size(); a-- > 0; rest /= shape[a]) index[axes[a]] = rest % shape[a];
      const std::int64_t token =
          index.contains(Axis::row) ? positions[static_cast<std::size_t>(index[Axis::row])] : index[Axis::token];
      values.push_back(static_cast<std::int16_t>(100 * token + 10 * index[Axis::head] + index[Axis::dim]));
    }
    const RowLayout layout = lay_rows(shape, axes, kTokens, positions);
    const auto rows =
        gather_rows(layout, {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * 2}, sizeof(std::int16_t));
    ASSERT_EQ(rows.size(), 2U * 2 * kHeads * kDim) << text;
    for (std::size_t i = 0; i < rows.size() / 2; ++i) {
      std::int16_t value = 0;
      std::memcpy(&value, rows.data() + 2 * i, 2);
      EXPECT_EQ(value, 100 * positions[i / 12] + static_cast<int>(10 * (i / 4 % 3) + i % 4)) << text << " " << i;
    }
  }
}

TEST(Layout, ColumnsAreTakenWhicheverAxisIsInnermost) {
  const std::vector<std::uint8_t> bytes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::vector<std::int32_t> positions{0, 2};
  const auto columns = [&](std::vector<std::int64_t> shape, const char* axes) {
    RowLayout layout = lay_rows(shape, parse_layout(axes), 3, positions);
    take_columns(layout, 1, 3);
    return gather_rows(layout, bytes, 1);
  };
  EXPECT_EQ(columns({3, 4}, "token,feature"), (std::vector<std::uint8_t>{1, 2, 9, 10}));
  EXPECT_EQ(columns({4, 3}, "feature,token"), (std::vector<std::uint8_t>{3, 6, 5, 8}));
}

TEST(Layout, ShapesThatDoNotFit) {
  const std::vector<std::int32_t> positions{1, 4};
  const auto message = [&](std::vector<std::int64_t> shape, const char* layout) {
    return message_of([&] { lay_rows(shape, parse_layout(layout), 5, positions); });
  };
  expect_mentions(message({5, 8}, "batch,token,feature"), {"shape [5, 8] as batch,token,feature: 2 axes; the layout has 3"});
  expect_mentions(message({2, 5, 8}, "batch,token,feature"), {"a batch of 2; expected 1"});
  expect_mentions(message({1, 4, 8}, "batch,token,feature"), {"4 tokens; the prompt has 5"});
  expect_mentions(message({5, 8}, "row,feature"), {"5 rows; 2 positions are kept"});
  expect_mentions(message({5, 0}, "token,feature"), {"an axis without elements"});
}

// A run of a committed trace as arrays of another engine's habits, and the map that tells them.
// NOLINTNEXTLINE(bugprone-exception-escape): the JSON's move checks an invariant
struct Arrays {
  std::vector<std::pair<std::string, std::string>> npy;  // name, content
  json map;
};

std::string permuted(const Array& array, const std::string& layout) {
  std::string text(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  if (layout != "batch,head,token,dim") return text;
  const auto heads = static_cast<std::size_t>(array.shape[1]);
  const std::size_t run = static_cast<std::size_t>(array.shape[2]) * dtype_size(array.dtype);
  std::string out;
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t row = 0; row < static_cast<std::size_t>(array.shape[0]); ++row)
      out += text.substr((row * heads + head) * run, run);
  }
  return out;
}

Arrays arrays_of(const TraceFile& trace, const std::string& descr, bool with_as) {
  const TracePrompt prompt = trace.prompt("genesis");
  Arrays out;
  json& map = out.map;
  for (const char* head : {"model", "weights", "model_sha256", "recipe", "rope", "dtype"}) map[head] = trace.head(head);
  map["layers"] = 6;
  json& mapped = map["prompts"]["genesis"];
  mapped["text"] = prompt.text;
  mapped["tokens"] = {{"array", "input_ids"}, {"layout", "batch,token"}};
  mapped["positions"] = "all";
  std::string ids;
  for (const std::int64_t id : prompt.tokens) ids.append(reinterpret_cast<const char*>(&id), sizeof id);
  out.npy.emplace_back("input_ids", npy("<i8", fmt::format("(1, {})", prompt.tokens.size()), ids));
  for (const std::string& site : prompt.sites) {
    const Array array = trace.site(prompt, site);
    const auto& s = array.shape;
    std::string layout = "batch,token,feature";
    std::string shape = fmt::format("(1, {}, {})", s[0], array.elements() / s[0]);
    json entry;
    if (site.ends_with("_rope")) {
      layout = "batch,head,token,dim";
      shape = fmt::format("(1, {}, {}, {})", s[1], s[0], s[2]);
    } else if (site.ends_with("_norm") && s.size() == 3) {
      entry["heads"] = s[1];
    } else if (site.ends_with(".attn")) {
      layout = "token,head,dim";
      shape = fmt::format("({}, 4, 128)", s[0]);
    }
    const bool layered = site.starts_with("layers.");
    const std::string kind = layered ? site.substr(site.find('.', 7) + 1) : site;
    const std::string name = layered ? fmt::format("model.{}.{}", std::stoi(site.substr(7)), kind) : site;
    entry["array"] = layered ? "model.{layer}." + kind : site;
    entry["layout"] = layout;
    if (with_as) entry["as"] = "bf16";
    mapped["sites"][layered ? "layers.{layer}." + kind : site] = entry;
    out.npy.emplace_back(name, npy(descr, shape, permuted(array, layout)));
  }
  return out;
}

std::vector<ZipEntry> entries_of(const Arrays& arrays, bool deflated) {
  std::vector<ZipEntry> entries;
  for (const auto& [name, content] : arrays.npy) {
    entries.push_back({name + ".npy", content, deflated, 0, {}, {}, {}, {}, {}, {}, entries.size() % 2 == 0});
  }
  return entries;
}

// Writes archive and map, imports them into `folder`/t.h5.
ForeignRun bring_in(const std::filesystem::path& folder, const std::string& archive, const json& map) {
  write_bytes(folder / "run.npz", archive);
  write_bytes(folder / "map.json", map.dump());
  ForeignRun run = read_mapped_arrays(open_npz(folder / "run.npz"), read_array_map(folder / "map.json"), "npz");
  write_foreign_run(run, folder / "t.h5");
  return run;
}

TEST(ImportNpz, AnyLayoutIsTheTraceItWasMadeFrom) {
  struct Case {
    const char* trace;
    const char* descr;
    bool deflated;
  };
  for (const Case& one : {Case{"kjv-hf-f32", "<f4", false}, Case{"kjv-hf-bf16", "<u2", true}}) {
    const TemporaryFolder folder;
    const TraceFile golden(own_golden() / "traces" / (std::string(one.trace) + ".h5"));
    Arrays arrays = arrays_of(golden, one.descr, std::string_view(one.descr) == "<u2");
    arrays.npy.emplace_back("attention_mask", npy("<i8", "(1,)", std::string(8, '\0')));
    const ForeignRun run = bring_in(folder.path(), zip_image(entries_of(arrays, one.deflated)), arrays.map);
    ASSERT_EQ(run.left_out.size(), 1U);
    EXPECT_EQ(run.left_out[0].what, "attention_mask");
    const TraceFile trace(folder.path() / "t.h5");
    expect_same_prompt(trace, golden, "genesis", false);
    EXPECT_EQ(trace.prompt("genesis").text, golden.prompt("genesis").text);
    EXPECT_EQ(trace.head("generator"), "assay import npz");
    const ModelFile model(own_golden() / "models" / "kjv");
    const AuditResult result = audit({&model, &trace, "", {}, definition_wiring(model.config())});
    EXPECT_TRUE(result.passed()) << audit_text(result, Style::plain());
    EXPECT_EQ(result.count(SiteVerdict::right), 105);
  }
}

std::string floats(std::size_t count, float first = 1) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = first + static_cast<float>(i);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return out;
}

// Two tokens, two sites.
json small_map() {
  return json::parse(
      R"({"model": "m", "weights": "f16", "recipe": "llama.cpp", "rope": "ggml", "dtype": "float32", "prompts": {"p": {
    "tokens": [7, 9], "positions": [1], "sites": {
      "embed": {"array": "x", "layout": "token,feature"}, "layers.00.q_norm": {"array": "q", "layout": "row,head,dim"}}}}})");
}

std::vector<ZipEntry> small_entries() {
  return {{.name = "x.npy", .content = npy("<f4", "(2, 3)", floats(6))},
          {.name = "q.npy", .content = npy("<f4", "(1, 2, 2)", floats(4, 50), 2), .deflated = true}};
}

// Queries and keys in the columns of one array.
TEST(ImportNpz, ColumnsOfAnArrayAreSites) {
  const TemporaryFolder folder;
  json map = small_map();
  json& sites = map["prompts"]["p"]["sites"];
  sites = {{"layers.00.q_proj", {{"array", "x"}, {"layout", "token,feature"}, {"columns", {0, 2}}}},
           {"layers.00.k_proj", {{"array", "x"}, {"layout", "token,feature"}, {"columns", {2, 3}}}}};
  bring_in(folder.path(), zip_image(small_entries()), map);
  const TraceFile trace(folder.path() / "t.h5");
  const std::string x = floats(6);
  const auto row = static_cast<std::size_t>(trace.prompt("p").positions.front());
  const Array q = trace.site(trace.prompt("p"), "layers.00.q_proj");
  const Array k = trace.site(trace.prompt("p"), "layers.00.k_proj");
  EXPECT_EQ(std::string(q.bytes.begin(), q.bytes.end()), x.substr(row * 12, 8));
  EXPECT_EQ(std::string(k.bytes.begin(), k.bytes.end()), x.substr(row * 12 + 8, 4));
  sites["layers.00.k_proj"]["columns"] = {1, 3};
  expect_mentions(message_of([&] { bring_in(folder.path(), zip_image(small_entries()), map); }),
                  {"array 'x': it is both layers.00.q_proj and layers.00.k_proj"});
  sites["layers.00.k_proj"]["columns"] = {2, 4};
  expect_mentions(message_of([&] { bring_in(folder.path(), zip_image(small_entries()), map); }), {"columns 2 to 4; a row has 3"});
}

// A layout that exchanges heads and their width.
TEST(ImportNpz, HeadsAreThoseOfTheLayersOtherSites) {
  const TemporaryFolder folder;
  json map = small_map();
  map["prompts"]["p"]["sites"]["layers.00.q_rope"] = {{"array", "rope"}, {"layout", "batch,row,dim,head"}};
  auto entries = small_entries();
  entries.push_back(entries.front());
  entries.back().name = "rope.npy";
  entries.back().content = npy("<f4", "(1, 1, 1, 4)", floats(4));
  expect_mentions(message_of([&] { bring_in(folder.path(), zip_image(entries), map); }),
                  {"p: array 'rope': rows of layers.00.q_rope are [4, 1]; those of layers.00.q_norm are [2, 2] (array 'q')"});
}

TEST(ImportNpz, VersionsStoredDeflatedAndAComment) {
  const TemporaryFolder folder;
  bring_in(folder.path(), zip_image(small_entries(), {.comment = "PK\5\6 is no end"}), small_map());
  const TraceFile trace(folder.path() / "t.h5");
  const TracePrompt prompt = trace.prompt("p");
  EXPECT_EQ(prompt.sites, (std::vector<std::string>{"embed", "layers.00.q_norm"}));
  const Array x = trace.site(prompt, "embed");
  EXPECT_EQ(x.shape, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(x.as<float>()[0], 4);
  const Array q = trace.site(prompt, "layers.00.q_norm");
  EXPECT_EQ(q.shape, (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_EQ(q.as<float>()[3], 53);
  EXPECT_EQ(trace.head("model_sha256"), "unknown");
  EXPECT_EQ(trace.head("source"), "run.npz");
}

TEST(ImportNpz, SafetensorsByTheSameMap) {
  const TemporaryFolder folder;
  std::string header =
      R"({"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"q":{"dtype":"BF16","shape":[1,2,2],"data_offsets":[24,32]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string image(8, '\0');
  image[0] = static_cast<char>(header.size());
  write_bytes(folder.path() / "run.safetensors", image + header + floats(6) + "abcdefgh");
  write_bytes(folder.path() / "map.json", small_map().dump());
  const auto import_file = [&](const json& map) {
    write_bytes(folder.path() / "map.json", map.dump());
    write_foreign_run(read_mapped_arrays(open_safetensors(folder.path() / "run.safetensors"),
                                         read_array_map(folder.path() / "map.json"), "safetensors"),
                      folder.path() / "t.h5");
  };
  import_file(small_map());
  const TraceFile trace(folder.path() / "t.h5");
  const Array q = trace.site(trace.prompt("p"), "layers.00.q_norm");
  EXPECT_EQ(q.dtype, DType::bf16);
  EXPECT_EQ(std::string(q.bytes.begin(), q.bytes.end()), "abcdefgh");
  json map = small_map();
  map["prompts"]["p"]["sites"]["embed"]["as"] = "bf16";
  expect_mentions(message_of([&] { import_file(map); }), {"run.safetensors: p: array 'x': elements of f32", "<u2"});
}

TEST(ImportNpz, MapsAreRefusedByMember) {
  struct Refusal {
    const char* pointer;  // JSON pointer to what is set; null erases
    json value;
    std::vector<std::string> mentions;
  };
  const std::string sites = "/prompts/p/sites";
  const Refusal refusals[] = {
      {"/model", {}, {"map.json: key 'model'", "missing"}},
      {"/modle", "m", {"unknown member 'modle'; the nearest is 'model'"}},
      {"/recipe", "hf2", {"unknown recipe 'hf2'"}},
      {"/dtype", "float8", {"unknown dtype 'float8'; the nearest is 'float"}},
      {"/layers", 0, {"key 'layers'", "expected 1 to 1024"}},
      {"/prompts", json::object(), {"key 'prompts'", "no prompt"}},
      {"/prompts/p/tokens", {}, {"key 'prompts.p.tokens'", "missing"}},
      {"/prompts/p/tokens", "all", {"key 'prompts.p.tokens'"}},
      {"/prompts/p/tokens", json{-1}, {"'prompts.p.tokens': -1; expected integers from 0"}},
      {"/prompts/p/tokens",
       json::parse(R"({"array": "x", "layout": "token"})"),
       {"run.npz: p: array 'x': elements of <f4; expected integers"}},
      {"/prompts/p/positions", {}, {"key 'prompts.p.positions'", "missing"}},
      {"/prompts/p/positions", json{2}, {"run.npz: p/positions: position 2 is not ascending within the 2 tokens"}},
      {"/prompts/p/positions",
       json{0, 1},
       {"array 'q': as layers.00.q_norm: shape [1, 2, 2] as row,head,dim: 1 rows; 2 positions"}},
      {"/prompts/p/sites/embedd",
       json::parse(R"({"array": "x", "layout": "token,feature"})"),
       {"unknown site 'embedd'; the nearest is 'embed'"}},
      {"/prompts/p/sites/layers.2000.attn",
       json::parse(R"({"array": "y", "layout": "token,feature"})"),
       {"a site of layer 2000"}},
      {"/prompts/p/sites/layers.{layer}.q_norm",
       json::parse(R"({"array": "y", "layout": "token,feature"})"),
       {"key 'layers'", "{layer}"}},
      {"/prompts/p/sites/embed/layout", "token,features", {"key 'prompts.p.sites.embed.layout'", "unknown axis 'features'"}},
      {"/prompts/p/sites/embed/array", "xx", {"run.npz: p: array 'xx'", "the nearest is 'x'"}},
      {"/prompts/p/sites/layers.00.q_norm/array", "x", {"run.npz: p: array 'x': it is both embed and layers.00.q_norm"}},
      {"/prompts/p/sites/embed/as", "f8", {"key 'prompts.p.sites.embed.as'"}},
      {"/prompts/p/sites/embed/as", "bf16", {"array 'x': elements of <f4; only those of <u2"}},
      {"/prompts/p/sites/embed/heads", 3, {"array 'x': heads are not for embed"}},
      {"/prompts/p/sites/layers.00.q_norm/heads", 2, {"array 'q': its layout has the heads"}},
      {"/prompts/p/sites/layers.00.q_norm/layout",
       "batch,row,feature",
       {
           "array 'q': flat rows of layers.00.q_norm: the map must say 'heads'",
       }},
  };
  for (const Refusal& refusal : refusals) {
    const TemporaryFolder folder;
    json map = small_map();
    const json::json_pointer at(refusal.pointer);
    if (refusal.value.is_null()) {
      map.at(at.parent_pointer()).erase(at.back());
    } else {
      map[at] = refusal.value;
    }
    auto entries = small_entries();
    if (std::string(refusal.pointer).ends_with("q_norm/layout")) entries[1].content = npy("<f4", "(1, 1, 2)", floats(2));
    expect_mentions(message_of([&] { bring_in(folder.path(), zip_image(entries), map); }), refusal.mentions);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "t.h5")) << refusal.pointer;
  }
}

}  // namespace
}  // namespace assay::import_arrays_test
