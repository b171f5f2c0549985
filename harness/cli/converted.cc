#include "harness/cli/converted.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "engine/convert/target.h"
#include "harness/cli/status_line.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

struct Sum {
  std::size_t tensors = 0;
  std::int64_t numbers = 0;
  std::uint64_t bytes = 0;
};

std::map<DType, Sum> sums_by_type(const std::vector<ListedTensor>& tensors) {
  std::map<DType, Sum> sums;
  for (const ListedTensor& tensor : tensors) {
    Sum& sum = sums[tensor.dtype];
    ++sum.tensors;
    sum.numbers += tensor.rows * tensor.cols;
    sum.bytes += tensor.bytes();
  }
  return sums;
}

std::string converted_table(const std::vector<ListedTensor>& tensors, const std::string& out, double seconds,
                            const Style& style) {
  Table table({"type", "tensors", "weights", "bytes", "bits a weight"});
  for (const auto& [dtype, sum] : sums_by_type(tensors)) {
    const double bits = 8.0 * static_cast<double>(sum.bytes) / static_cast<double>(sum.numbers);
    table.add({std::string(dtype_name(dtype)), fmt::format("{}", sum.tensors), fmt::format("{}", sum.numbers),
               fmt::format("{}", sum.bytes), fmt::format("{:.4g}", bits)});
  }
  return fmt::format("{}\n{}: {} bytes, {:.1f} s\n", table.render(style), out, std::filesystem::file_size(out), seconds);
}

nlohmann::ordered_json converted_json(const std::vector<ListedTensor>& tensors, const std::string& out, double seconds) {
  nlohmann::ordered_json json = environment_json();
  json["out"] = out;
  json["bytes"] = std::filesystem::file_size(out);
  json["seconds"] = seconds;
  for (const ListedTensor& tensor : tensors) {
    json["tensors"].push_back(
        {{"name", tensor.name}, {"type", dtype_name(tensor.dtype)}, {"shape", tensor.shape()}, {"bytes", tensor.bytes()}});
  }
  return json;
}

}  // namespace

void report_conversion(const std::string& out, const Conversion& convert, const Common& common) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<ListedTensor> tensors;
  {
    StatusLine line;
    tensors = convert([&](const ListedTensor& tensor, std::size_t index, std::size_t count) {
      line.show(fmt::format("{} of {} tensors, {} as {}", index + 1, count, tensor.name, dtype_name(tensor.dtype)));
    });
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}", common.json ? json_text(converted_json(tensors, out, seconds))
                               : converted_table(tensors, out, seconds, common.style()));
}

std::string target_words() {
  std::string words;
  for (const Target& target : targets()) {
    words.append(words.empty() ? "" : target.mix ? ", or the mix " : ", ").append(target.name);
  }
  return words;
}

int thread_count(int wanted) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (wanted > cores)
    fmt::print(stderr, "assay: warning: --threads {} on {} cores: they take turns, which is slower than --threads {}\n", wanted,
               cores, cores);
  return wanted > 0 ? wanted : cores;
}

}  // namespace assay::cli
