#include "engine/model/model_file.h"

#include "engine/model/gguf_vocabulary.h"
#include "engine/tokenizer/tokenizer_json.h"

namespace assay {

ModelFile::ModelFile(const std::filesystem::path& path) {
  std::error_code none;  // what cannot be looked at is for opening to name
  if (std::filesystem::is_directory(path, none)) {
    open_folder(path);
  } else if (path.extension() == ".safetensors") {
    throw ModelFileError(Fault::unreadable, {path.string(), {}, {}},
                         "weights alone are no model; give the folder, with config.json and tokenizer.json");
  } else {
    open_gguf(path);
  }
}

void ModelFile::open_gguf(const std::filesystem::path& path) {
  source_ = WeightSource::gguf;
  const auto& file = files_.emplace<GgufFile>(path);
  config_ = read_gguf_config(file.contents(), file.name());
  vocabulary_ = read_gguf_vocabulary(file.contents(), file.name());
  weights_.emplace(config_, file.contents().tensors, source_, file.name());
}

void ModelFile::open_folder(const std::filesystem::path& folder) {
  source_ = WeightSource::hugging_face;
  config_ = read_json_config(folder / "config.json");
  tokenizer_json_ = folder / "tokenizer.json";
  std::error_code none;
  if (!std::filesystem::is_regular_file(tokenizer_json_, none)) {
    throw ModelFileError(Fault::unreadable, {tokenizer_json_.string(), {}, {}}, "expected a regular file, the model's tokenizer");
  }
  const auto& files = files_.emplace<SafetensorsFolder>(folder);
  weights_.emplace(config_, files.tensors(), source_, files.name());
}

Vocabulary ModelFile::vocabulary() const {
  if (vocabulary_) return *vocabulary_;
  Vocabulary vocabulary = vocabulary_from_tokenizer_json(tokenizer_json_);
  const std::filesystem::path config = tokenizer_json_.parent_path() / "tokenizer_config.json";
  if (std::filesystem::exists(config)) vocabulary.eos = eos_from_tokenizer_config(config).value_or("");
  return vocabulary;
}

const GgufContents* ModelFile::gguf() const {
  const auto* file = std::get_if<GgufFile>(&files_);
  return file == nullptr ? nullptr : &file->contents();
}

}  // namespace assay
