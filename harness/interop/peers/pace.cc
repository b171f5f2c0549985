// The engine's pace, on demand: reads commands, a line each, and answers each with a line of JSON. harness/interop/peers/engine.py asks it and a
// peer in turn.
//   peer_pace MODEL THREADS KV_TYPE CONTEXT
//     prefill N   an empty sequence is fed N tokens at once; seconds
//     decode N    N tokens more, one by one; seconds
//     roofs       what memory and arithmetic give so many threads
//     load        the weights once more, beside the first, from the page cache: seconds until ready, the tokenizer's apart
//     work        of a token: bytes of weights that its decoding reads, of the cache for each position; operations of its prefill's
//                 products, attention and the head left out
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "engine/run/engine.h"
#include "engine/tokenizer/tokenizer.h"
#include "harness/forensics/model/wiring.h"
#include "harness/forensics/profile/machine_roofs.h"
#include "harness/forensics/profile/profile.h"

namespace assay {
namespace {

class Pace {
 public:
  Pace(const ModelFile& model, const EngineOptions& options) : model_(model), options_(options), engine_(model, options) {}

  double prefill(std::size_t count) {
    engine_.reset();
    std::vector<std::int32_t> tokens(count);
    for (std::int32_t& token : tokens) token = any_token();
    return timed([&] { engine_.feed(tokens); });
  }
  double decode(std::size_t count) {
    return timed([&] {
      for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t token = any_token();
        engine_.feed({&token, 1});
      }
    });
  }
  nlohmann::ordered_json load() const {
    const double tokenizer = timed([&] { const Tokenizer one(model_.vocabulary()); });
    const double weights = timed([&] { const Engine another(model_, options_); });
    return {{"weights", weights}, {"tokenizer", tokenizer}};
  }
  nlohmann::ordered_json roofs() const {
    const profile::Roofs found = profile::measure_roofs(engine_.threads(), selected_isa());
    return {{"read", found.read}, {"f32", found.fma}, {"int8", found.int8.value_or(0)}};
  }
  nlohmann::ordered_json work() const {
    const Plan& plan = engine_.plan();
    std::int64_t weights = 0;
    for (const PlannedWeight& weight : plan.weights) weights += weight.in_file ? 0 : weight.bytes;
    std::int64_t operations = 0;
    for (const Step& step : plan.steps) {
      if (formula_of(step) != Formula::linear || step.of_logits) continue;
      const Weight& weight = *plan.weights[static_cast<std::size_t>(step.weight)].stored;
      operations += 2 * weight.rows * weight.cols;
    }
    const KvShape& kv = plan.kv.shape;
    const std::int64_t element = kv.type == KvType::f32 ? 4 : 2;
    return {{"weights", weights}, {"position", 2 * kv.layers * kv.n_kv * kv.head_dim * element}, {"operations", operations}};
  }

 private:
  std::int32_t any_token() {
    return static_cast<std::int32_t>(random_() % static_cast<std::uint32_t>(engine_.plan().config.vocab));
  }
  template <class Body>
  static double timed(const Body& body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  const ModelFile& model_;
  EngineOptions options_;
  Engine engine_;
  std::mt19937 random_{1};
};

int serve(int argc, char** argv) {
  if (argc != 5) throw std::invalid_argument("usage: peer_pace MODEL THREADS KV_TYPE CONTEXT");
  const ModelFile model(argv[1]);
  EngineOptions options;
  options.threads = std::stoi(argv[2]);
  options.plan.kv_type = std::string(argv[3]) == "f16" ? KvType::f16 : KvType::f32;
  options.plan.context = std::stoll(argv[4]);
  Pace pace(model, options);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    std::size_t count = 0;
    words >> command >> count;
    nlohmann::ordered_json answer;
    if (command == "prefill" || command == "decode") {
      answer = {{"tokens", count}, {"seconds", command == "decode" ? pace.decode(count) : pace.prefill(count)}};
    } else if (command == "roofs") {
      answer = pace.roofs();
    } else if (command == "load") {
      answer = pace.load();
    } else if (command == "work") {
      answer = pace.work();
    } else {
      throw std::invalid_argument("unknown command: " + line);
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  try {
    return assay::serve(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "peer_pace: {}\n", error.what());
    return 2;
  }
}
