// Traces that are written: read back byte for byte however they came in portions, the same bytes for the same calls, whole or not
// there, and refusals that name the site.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <thread>

#include "golden/trace_writer.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::trace_writer_test {
namespace {

constexpr std::int64_t kRows = 150;

TraceHead head() {
  return {"kjv", "bf16", "00ff", "assay", "f64", "float32", "tests/trace_writer_test.cc", "1", "no run at all", "Apache-2.0"};
}

TracePrompt run_of(const std::string& name, std::int64_t rows) {
  TracePrompt prompt;
  prompt.name = name;
  prompt.tokens.resize(static_cast<std::size_t>(rows) + 2);
  std::iota(prompt.tokens.begin(), prompt.tokens.end(), 7);
  prompt.positions.resize(static_cast<std::size_t>(rows));
  std::iota(prompt.positions.begin(), prompt.positions.end(), 2);
  return prompt;
}

// One of each kind: several chunks, a row that is more than a chunk, blocks, and a few bytes that are not compressed.
std::vector<TraceSite> sites() {
  return {{"embed", DType::f32, {330}, 0},
          {"layers.00.q_rope", DType::f64, {16, 8}, 7},
          {"layers.00.attn", DType::f16, {129}, 9},
          {"layers.00.attn_residual", DType::bf16, {64}, 11},
          {"layers.00.swiglu.quant", DType::q8_0, {3}, 12},
          {"rope_table", DType::f32, {}, 3},
          {std::string(kLogitsSite), DType::f32, {17000}, 40}};
}

// Bytes that depend on the site and on where they are.
std::vector<std::uint8_t> bytes_of(const TraceSite& site, std::int64_t rows) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(rows * site.row_bytes()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>((i * 2654435761U + static_cast<std::size_t>(site.step)) >> 7);
  }
  return out;
}

// Rows from..from+count of all those of `site`.
void append_rows(TraceWriter& writer, const TraceSite& site, const std::vector<std::uint8_t>& all, std::int64_t from,
                 std::int64_t count) {
  writer.append(site.name, std::span(all).subspan(static_cast<std::size_t>(from * site.row_bytes()),
                                                  static_cast<std::size_t>(count * site.row_bytes())));
}

// A prefill in portions of `portion` rows, each site after the other, then the last rows one at a time.
void write_run(TraceWriter& writer, const TracePrompt& prompt, std::int64_t portion) {
  const std::int64_t rows = std::ssize(prompt.positions);
  writer.open_prompt(prompt);
  std::vector<std::vector<std::uint8_t>> all;
  for (const TraceSite& site : sites()) {
    writer.declare(site);
    all.push_back(bytes_of(site, rows));
  }
  const std::int64_t prefill = rows * 2 / 3;
  for (std::int64_t row = 0; row < rows;) {
    const std::int64_t count = row < prefill ? std::min(portion, prefill - row) : 1;
    for (std::size_t i = 0; i < all.size(); ++i) append_rows(writer, sites()[i], all[i], row, count);
    row += count;
  }
}

void write_file(const std::filesystem::path& path, std::int64_t portion) {
  TraceWriter writer(path, head());
  writer.set_plan(R"({"steps": []})");
  TracePrompt text = run_of("genesis", kRows);
  text.text = "In the beginning";
  write_run(writer, text, portion);
  writer.set_greedy({{5, 6}, {0.25F, 1.5F}}, "God created");
  write_run(writer, run_of("one", 1), portion);
  writer.commit();
}

void expect_sites(const TraceFile& file, const TracePrompt& prompt) {
  for (const TraceSite& site : sites()) {
    const Array array = file.site(prompt, site.name);
    EXPECT_EQ(array.dtype, site.dtype) << site.name;
    std::vector<std::int64_t> shape{std::ssize(prompt.positions)};
    shape.insert(shape.end(), site.row_shape.begin(), site.row_shape.end());
    EXPECT_EQ(array.shape, shape) << site.name;
    EXPECT_EQ(array.bytes, bytes_of(site, shape.front())) << site.name;
  }
}

TEST(TraceWriter, WhatIsReadIsWhatWasWritten) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "t.h5";
  for (const std::int64_t portion : {1, 17, 128}) {
    write_file(path, portion);
    const TraceFile file(path);
    EXPECT_EQ(file.head("model_sha256"), "00ff");
    EXPECT_EQ(file.head("recipe"), "assay");
    EXPECT_EQ(file.plan(), R"({"steps": []})");
    ASSERT_EQ(file.prompts(), (std::vector<std::string>{"genesis", "one"}));
    const TracePrompt genesis = file.prompt("genesis");
    EXPECT_EQ(genesis.text, "In the beginning");
    EXPECT_EQ(genesis.tokens, run_of("", kRows).tokens);
    EXPECT_EQ(genesis.positions, run_of("", kRows).positions);
    EXPECT_EQ(genesis.sites, (std::vector<std::string>{"embed", "rope_table", "layers.00.q_rope", "layers.00.attn",
                                                       "layers.00.attn_residual", "layers.00.swiglu.quant", "lm_head"}));
    ASSERT_TRUE(genesis.greedy);
    EXPECT_EQ(genesis.greedy->tokens, (std::vector<std::int32_t>{5, 6}));
    EXPECT_EQ(genesis.greedy->gap, (std::vector<float>{0.25F, 1.5F}));
    expect_sites(file, genesis);
    const TracePrompt one = file.prompt("one");
    EXPECT_TRUE(one.text.empty());
    EXPECT_FALSE(one.greedy);
    expect_sites(file, one);
  }
}

// Time stamps count seconds; one passes between the files.
TEST(TraceWriter, SameCallsSameBytes) {
  const TemporaryFolder folder;
  write_file(folder.path() / "a.h5", 17);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  write_file(folder.path() / "b.h5", 17);
  EXPECT_EQ(file_bytes(folder.path() / "a.h5"), file_bytes(folder.path() / "b.h5"));
}

TEST(TraceWriter, TellsItsBytesBeforehand) {
  const TemporaryFolder folder;
  // Per row: 330 f32, 128 f64, 129 f16, 64 bf16, 3 blocks of 34, one f32, 17000 f32.
  constexpr std::int64_t kRow = 330 * 4 + 128 * 8 + 129 * 2 + 64 * 2 + 3 * 34 + 4 + 17000 * 4;
  EXPECT_EQ(raw_trace_bytes(sites(), kRows), kRows * kRow);
  TraceWriter writer(folder.path() / "t.h5", head());
  writer.open_prompt(run_of("genesis", kRows));
  for (const TraceSite& site : sites()) writer.declare(site);
  EXPECT_EQ(writer.declared_bytes(), kRows * kRow);
}

// What waits for its chunk is bounded by sites and rows' width, not by the number of rows.
TEST(TraceWriter, ChunksAreBounded) {
  EXPECT_EQ(chunk_rows(300, 132), 300);
  EXPECT_EQ(chunk_rows(3000, 132), 496);
  EXPECT_EQ(chunk_rows(300, 80000), 1);
  EXPECT_EQ(chunk_rows(0, 0), 1);
}

TEST(TraceWriter, WithoutCommitNothingIsLeft) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "t.h5";
  {
    TraceWriter writer(path, head());
    write_run(writer, run_of("genesis", kRows), 17);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_file(path, 17);
  const auto before = file_bytes(path);
  {
    TraceWriter writer(path, head());
    writer.open_prompt(run_of("genesis", kRows));
  }
  EXPECT_EQ(file_bytes(path), before);
}

TEST(TraceWriter, ASubsetOfSitesIsReadBack) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "t.h5";
  TraceWriter writer(path, head());
  writer.open_prompt(run_of("genesis", 4));
  const std::vector<TraceSite> two{{"layers.02.k_proj", DType::f32, {8}, 33}, {"layers.00.k_proj", DType::f32, {8}, 2}};
  for (const TraceSite& site : two) {
    writer.declare(site);
    append_rows(writer, site, bytes_of(site, 4), 0, 4);
  }
  writer.commit();
  EXPECT_EQ(TraceFile(path).prompt("genesis").sites, (std::vector<std::string>{"layers.00.k_proj", "layers.02.k_proj"}));
}

std::string refusal_of(const std::function<void(TraceWriter&)>& use) {
  const TemporaryFolder folder;
  TraceWriter writer(folder.path() / "t.h5", head());
  return message_of<Hdf5Error>([&] { use(writer); });
}

TEST(TraceWriter, RefusalsNameTheSite) {
  const TraceSite site{"layers.00.attn", DType::f32, {4}, 3};
  const std::vector<float> row(4);
  const auto open = [&](TraceWriter& writer) {
    writer.open_prompt(run_of("genesis", 2));
    writer.declare(site);
  };
  struct Refusal {
    const char* message;
    std::function<void(TraceWriter&)> use;
  };
  const Refusal refusals[] = {
      {"t.h5: /prompts/genesis: layers.00.attn: 1 rows; 2 were declared",
       [&](TraceWriter& w) {
         open(w);
         w.append(site.name, std::span(row));
         w.commit();
       }},
      {"t.h5: /prompts/genesis: layers.00.attn: 0 rows; 2 were declared",
       [&](TraceWriter& w) {
         open(w);
         w.open_prompt(run_of("psalm", 1));
       }},
      {"t.h5: /prompts/genesis/sites/layers.00.attn: 3 rows; 2 were declared",
       [&](TraceWriter& w) {
         open(w);
         for (int i = 0; i < 3; ++i) w.append(site.name, std::span(row));
       }},
      {"sites/layers.00.attn: 12 bytes; a row has 16",
       [&](TraceWriter& w) {
         open(w);
         w.append(site.name, std::span(row).first(3));
       }},
      {"sites/embed: not declared",
       [&](TraceWriter& w) {
         open(w);
         w.append("embed", std::span(row));
       }},
      {"layers.00.attn: declared twice",
       [&](TraceWriter& w) {
         open(w);
         w.declare(site);
       }},
      {"embed: step 3 is negative or another site's",
       [&](TraceWriter& w) {
         open(w);
         w.declare({"embed", DType::f32, {4}, 3});
       }},
      {"embed: i32; expected numbers",
       [&](TraceWriter& w) {
         open(w);
         w.declare({"embed", DType::i32, {4}, 4});
       }},
      {"logits: a dataset may have 2^29 elements",
       [&](TraceWriter& w) {
         w.open_prompt(run_of("genesis", 4000));
         w.declare({"lm_head", DType::f32, {151936}, 4});
       }},
      {"/prompts/genesis: group cannot be made",
       [&](TraceWriter& w) {
         open(w);
         for (int i = 0; i < 2; ++i) w.append(site.name, std::span(row));
         w.open_prompt(run_of("genesis", 2));
       }},
      {"'../x' cannot name a prompt", [&](TraceWriter& w) { w.open_prompt(run_of("../x", 2)); }},
      {"genesis/positions: position 2 is not ascending within the 0 tokens",
       [&](TraceWriter& w) {
         TracePrompt prompt = run_of("genesis", 2);
         prompt.tokens.clear();
         w.open_prompt(prompt);
       }},
      {"/prompts/genesis: no site was declared",
       [&](TraceWriter& w) {
         w.open_prompt(run_of("genesis", 2));
         w.commit();
       }},
      {"/prompts: a trace without prompts", [&](TraceWriter& w) { w.commit(); }},
  };
  for (const Refusal& refusal : refusals) expect_mentions(refusal_of(refusal.use), {refusal.message});
}

// A file that may not grow stands for a full disk. The next file can be written all the same, and the program ends in peace.
TEST(TraceWriter, AFullDiskIsNamedAndNothingIsLeft) {
  const TemporaryFolder folder;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{100000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  const std::string message = message_of<Hdf5Error>([&] { write_file(folder.path() / "t.h5", 17); });
  setrlimit(RLIMIT_FSIZE, &before);
  expect_mentions(message, {"t.h5: /prompts/genesis/", "cannot be written: File too large"});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_file(folder.path() / "t.h5", 17);
  expect_sites(TraceFile(folder.path() / "t.h5"), TraceFile(folder.path() / "t.h5").prompt("genesis"));
}

}  // namespace
}  // namespace assay::trace_writer_test
