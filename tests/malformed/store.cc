#include "tests/malformed/store.h"

#include <fstream>
#include <stdexcept>

namespace assay::malformed {

std::filesystem::path store(const Case& wrong, const std::filesystem::path& folder) {
  const std::filesystem::path target = folder / wrong.name;
  std::filesystem::create_directories(target);
  for (const auto& [name, bytes] : wrong.files) {
    std::ofstream out(target / name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error((target / name).string() + ": cannot be written");
  }
  return wrong.files.contains("model.gguf") ? target / "model.gguf" : target;
}

}  // namespace assay::malformed
