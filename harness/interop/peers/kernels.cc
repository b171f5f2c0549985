// ci/peers kernels: ggml's mul_mat and ours in turn, on the same bytes, one thread each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/interop/peers/our_product.h"
#include "harness/reports/style.h"
#include "harness/verdict/bench/roof.h"
#include "harness/verdict/clock.h"
#include "reference/blocks.h"

namespace assay::peers {
namespace {

using namespace kernel_tables;
constexpr Formats kFormats[] = {
    {DType::q4_k, DType::q4_k_x16, DType::q8_k, encode_q4_k, &pack_q4_k_x16, quantize_q8_k, gemv_q4_k_x16_q8_k,
     gemm_q4_k_x16_q8_k},
    {DType::q5_k, DType::q5_k, DType::q8_k, encode_q5_k, nullptr, quantize_q8_k, gemv_q5_k_q8_k, gemm_q5_k_q8_k},
    {DType::q6_k, DType::q6_k_x16, DType::q8_k, encode_q6_k, &pack_q6_k_x16, quantize_q8_k, gemv_q6_k_x16_q8_k,
     gemm_q6_k_x16_q8_k},
    {DType::q8_0, DType::q8_0_x16, DType::q8_0, encode_q8_0, &pack_q8_0_x16, quantize_q8_0, gemv_q8_0_x16_q8_0,
     gemm_q8_0_x16_q8_0},
    {DType::q4_0, DType::q4_0, DType::q8_0, encode_q4_0, nullptr, quantize_q8_0, gemv_q4_0_q8_0, gemm_q4_0_q8_0},
    {DType::q5_0, DType::q5_0, DType::q8_0, encode_q5_0, nullptr, quantize_q8_0, gemv_q5_0_q8_0, gemm_q5_0_q8_0},
};
constexpr const char* kTypes[] = {"q4_K", "q5_K", "q6_K", "q8_0", "q4_0", "q5_0"};  // ggml's names of them

constexpr int kRounds = 15;
constexpr double kMostSeconds = 12;  // of a comparison: fewer rounds where a round takes long

template <class Run>
double seconds_of(const Run& run) {
  const double start = thread_seconds();
  run();
  return thread_seconds() - start;
}

struct Outcome {
  std::string layout;  // the peer's best
  double ours = 0;     // seconds a product
  double peers = 0;
  double ratio = 0;     // median of peers / ours, round by round
  double read = 0;      // ours, of the read roof
  double our_nmse = 0;  // of the first rows, against fp64 over the decoded weights and the given activations
  double peer_nmse = 0;
};

// sum (y - truth)^2 / sum truth^2 over the first rows and columns: the rounding of the activations to blocks is in it, ours and theirs.
struct Truth {
  static constexpr std::int64_t kRows = 256;
  std::vector<double> values;
  std::int64_t columns;

  Truth(const Product& p, DType format, std::span<const std::byte> w, std::span<const float> x) : columns(std::min(p.n, kRows)) {
    const std::vector<float> rows = reference::decode(format, w.data(), columns * p.k);
    for (std::int64_t j = 0; j < std::min<std::int64_t>(p.m, 2); ++j) {
      for (std::int64_t i = 0; i < columns; ++i) {
        double sum = 0;
        for (std::int64_t c = 0; c < p.k; ++c) sum += double{rows[i * p.k + c]} * double{x[j * p.k + c]};
        values.push_back(sum);
      }
    }
  }
  double nmse(const Product& p, const std::vector<float>& y) const {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const double difference = double{y[at / columns * p.n + at % columns]} - values[i];
      error += difference * difference;
      norm += values[i] * values[i];
    }
    return error / norm;
  }
};

double median_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return bench::median(ratios);
}

// Ours and one layout of the peer's in turn, the read roof in between.
Outcome compare(const Formats& f, const Product& p, const std::string& layout, std::size_t copies, std::span<const std::byte> w,
                std::span<const float> x, bench::Roofs& roofs, const Truth& truth) {
  GgmlProduct peer(p, layout, copies, w, x);
  OurProduct ours(f, p, copies, w, x);
  ours.run();
  peer.run();
  std::vector<double> our_seconds, peer_seconds;
  bench::Rounds rounds(roofs);
  const double began = thread_seconds();
  const auto each = static_cast<double>(copies);
  while (our_seconds.size() < kRounds && (our_seconds.size() < 3 || thread_seconds() - began < kMostSeconds)) {
    rounds.read_roofs();
    our_seconds.push_back(seconds_of([&] { ours.run(); }) / each);
    rounds.kernel(our_seconds.back());
    peer_seconds.push_back(seconds_of([&] { peer.run(); }) / each);
  }
  return {layout,
          bench::median(our_seconds),
          bench::median(peer_seconds),
          median_ratio(peer_seconds, our_seconds),
          rounds.of_read(ours.bytes()).share,
          truth.nmse(p, ours.result()),
          truth.nmse(p, peer.result())};
}

// Against each layout that the peer has for these weights; its fastest counts.
Outcome against_best(const Formats& f, const Product& p, bench::Roofs& roofs) {
  const std::vector<std::byte> w = OurProduct::encoded(f, p);
  const std::vector<float> x = gaussian(static_cast<std::size_t>(p.m * p.k), 2);
  const std::size_t cold = p.m > 1 ? 1 : bench::cold_bytes() / w.size() + 1;
  const Truth truth(p, f.plain, w, x);
  std::optional<Outcome> best;
  for (const std::string& layout : GgmlProduct::layouts(p)) {
    const Outcome one = compare(f, p, layout, cold, w, x, roofs, truth);
    if (!best || one.ratio < best->ratio) best = one;
  }
  return best.value();
}

struct Shape {
  std::int64_t n;
  std::int64_t k;
};
constexpr Shape kShapes[] = {{3072, 1024}, {1024, 3072}, {151936, 1024}};

nlohmann::ordered_json json_of(const Product& p, const Outcome& o) {
  return {{"type", p.type},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"peer_layout", o.layout},
          {"ours_s", o.ours},
          {"peer_s", o.peers},
          {"ratio", o.ratio},
          {"ours_of_read", o.read},
          {"ours_nmse", o.our_nmse},
          {"peer_nmse", o.peer_nmse}};
}

int run(bool json, const std::vector<std::string>& types) {
  bench::Roofs roofs;
  Table table({"product", "peer's layout", ">ours", ">ggml", ">ggml/ours", ">ours, of read", ">NMSE ours", ">NMSE ggml"});
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::int64_t m : {std::int64_t{1}, std::int64_t{512}}) {
    for (std::size_t i = 0; i < std::size(kFormats); ++i) {
      const char* const type = kTypes[i];
      if (!types.empty() && std::find(types.begin(), types.end(), type) == types.end()) continue;
      for (const Shape& shape : kShapes) {
        const Product product{type, m, shape.n, shape.k};
        const Outcome o = against_best(kFormats[i], product, roofs);
        const std::string name = fmt::format("{} {} [{},{}]", m == 1 ? "gemv" : "gemm 512", type, shape.n, shape.k);
        table.add({name, o.layout, fmt::format("{:.3f} ms", 1e3 * o.ours), fmt::format("{:.3f} ms", 1e3 * o.peers),
                   fmt::format("{:.2f}", o.ratio), m == 1 ? fmt::format("{:.1f} %", 100 * o.read) : "-",
                   fmt::format("{:.2e}", o.our_nmse), fmt::format("{:.2e}", o.peer_nmse)});
        all.push_back(json_of(product, o));
        fmt::print(stderr, "{}: {:.2f}\n", name, o.ratio);
      }
    }
  }
  fmt::print("{}", json ? all.dump(1) + "\n" : table.render(Style::from_mode("auto")));
  return 0;
}

}  // namespace

std::vector<float> gaussian(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  std::generate(values.begin(), values.end(), [&] { return normal(bits); });
  return values;
}

}  // namespace assay::peers

int main(int argc, char** argv) {
  bool json = false;
  std::vector<std::string> types;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--json") {
      json = true;
    } else {
      types.emplace_back(argv[i]);
    }
  }
  try {
    return assay::peers::run(json, types);
  } catch (const std::exception& error) {
    fmt::print(stderr, "peers: {}\n", error.what());
    return 2;
  }
}
