// Model files: GGUF, safetensors, a Hugging Face folder.
#include <filesystem>
#include <string>

#include "engine/files/gguf.h"
#include "engine/files/safetensors.h"
#include "engine/model/model_file.h"
#include "engine/tokenizer/tokenizer.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sections.h"
#include "tests/fuzz/targets.h"

namespace assay::fuzz {
namespace {

void require_inside(std::span<const std::uint8_t> part, Input whole) {
  require(part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size()),
          "a tensor's bytes outside the file");
}

void require_tensors(const std::vector<StoredTensor>& tensors, Input whole) {
  for (const StoredTensor& tensor : tensors) {
    require(!tensor.name.empty(), "a tensor without a name");
    require_inside(tensor.bytes, whole);
    std::uint64_t elements = 1;
    for (const std::int64_t dim : tensor.shape) {
      require(dim >= 0, "a negative dimension");
      elements *= static_cast<std::uint64_t>(dim);
    }
    const auto numbers = static_cast<std::uint64_t>(dtype_numbers(tensor.dtype));
    require(tensor.bytes.size() == elements / numbers * dtype_size(tensor.dtype), "a tensor's bytes are not its shape's");
  }
}

// What the model says of itself, and its tokenizer at work.
void use(const ModelFile& model) {
  require(model.config().layers > 0 && model.config().vocab > 0, "a model without layers or tokens");
  try {
    const Tokenizer tokenizer(model.vocabulary());
    for (const std::int32_t id : tokenizer.encode("In the beginning <|im_end|> 12 caf\xc3\xa9")) {
      require(id >= 0 && id < tokenizer.size(), "an id outside the vocabulary");
    }
  } catch (const TokenizerError&) {
  }
}

void open_model(const std::filesystem::path& path) {
  try {
    use(ModelFile(path));
  } catch (const ModelFileError& error) {
    require_message(error.what());
  }
}

// One for all inputs: its files are written anew.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "assay-fuzz-XXXXXX") {
    std::string name = path_.string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

void run_gguf(Input input) {
  try {
    require_tensors(parse_gguf(input, "input").tensors, input);
  } catch (const ModelFileError& error) {
    require_message(error.what());
    return;
  }
  open_model(MemoryFile(input).path());
}

void run_safetensors(Input input) {
  try {
    require_tensors(parse_safetensors(input, "input"), input);
  } catch (const ModelFileError& error) {
    require_message(error.what());
  }
}

void run_folder(Input input) {
  static const Folder folder;
  const auto sections = sections_of(input);
  for (const auto& [name, bytes] : sections) write_file(folder.path() / name, bytes);
  open_model(folder.path());
  for (const auto& [name, bytes] : sections) std::filesystem::remove(folder.path() / name);
}

}  // namespace assay::fuzz
