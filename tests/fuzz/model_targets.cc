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
  const std::filesystem::path folder = scratch_folder() / "model";
  const auto sections = sections_of(input);
  std::filesystem::create_directory(folder);
  for (const auto& [name, bytes] : sections) write_file(folder / name, bytes);
  open_model(folder);
  for (const auto& [name, bytes] : sections) std::filesystem::remove(folder / name);
}

}  // namespace assay::fuzz
