#include "harness/cli/converted.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "harness/report.h"

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

}  // namespace

ConvertProgress conversion_line() {
  if (isatty(STDERR_FILENO) != 1) return {};
  return [](const ListedTensor& tensor, std::size_t index, std::size_t count) {
    fmt::print(stderr, "\r\033[K{} of {} tensors, {} as {}", index + 1, count, tensor.name, dtype_name(tensor.dtype));
  };
}

void end_conversion_line() {
  if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\033[K");
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

int thread_count(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace assay::cli
