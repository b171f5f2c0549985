#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/files/safetensors.h"
#include "engine/files/strict_json.h"

namespace assay {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostIndex = 64U << 20;

// Tensor -> shard, each shard a plain name of a file beside the index.
std::map<std::string, std::string> read_weight_map(const MappedFile& index) {
  const json top = read_strict_json(index, kMostIndex);
  const auto map = top.find("weight_map");
  if (map == top.end() || !map->is_object() || map->empty()) {
    throw ModelFileError(Fault::member, {index.name(), {}, "member 'weight_map'"}, "expected an object, tensor to shard");
  }
  std::map<std::string, std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    const Where where{index.name(), {}, "weight_map " + shown(tensor)};
    if (!shard.is_string()) throw ModelFileError(Fault::member, where, "expected the shard's name, a string");
    const auto& name = shard.get_ref<const std::string&>();
    const bool plain = name.ends_with(".safetensors") && std::all_of(name.begin(), name.end(), [](char c) {
                         return c > 0x20 && c < 0x7f && c != '/' && c != '\\';
                       });
    if (!plain) {
      throw ModelFileError(Fault::shard_name, where,
                           "shard " + shown(name) + "; expected a plain file name in this folder that ends in .safetensors");
    }
    shards[tensor] = name;
  }
  return shards;
}

}  // namespace

SafetensorsFolder::SafetensorsFolder(const std::filesystem::path& folder) {
  const std::filesystem::path single = folder / "model.safetensors";
  std::error_code none;  // what cannot be looked at is for opening to name
  if (!std::filesystem::exists(single, none) && std::filesystem::exists(folder / "model.safetensors.index.json", none)) {
    add_shards(folder);
    return;
  }
  const MappedFile& file = files_.emplace_back(map_safetensors(single));
  name_ = file.name();
  tensors_ = parse_safetensors(file.bytes(), file.name());
}

void SafetensorsFolder::add_shards(const std::filesystem::path& folder) {
  const MappedFile index(folder / "model.safetensors.index.json");
  name_ = index.name();
  std::map<std::string, std::string> missing = read_weight_map(index);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : missing) shards.insert(shard);
  for (const std::string& shard : shards) {
    const MappedFile& file = files_.emplace_back(map_safetensors(folder / shard));
    for (StoredTensor& tensor : parse_safetensors(file.bytes(), file.name())) {
      const auto entry = missing.find(tensor.name);
      if (entry == missing.end() || entry->second != shard) {
        throw ModelFileError(Fault::weight_map, {file.name(), tensor.offset, "tensor " + shown(tensor.name)},
                             "the index places no such tensor in this shard");
      }
      missing.erase(entry);
      tensors_.push_back(std::move(tensor));
    }
  }
  if (missing.empty()) return;
  const auto& [tensor, shard] = *missing.begin();
  throw ModelFileError(Fault::weight_map, {name_, {}, "weight_map " + shown(tensor)},
                       "shard " + shown(shard) + " does not hold it");
}

}  // namespace assay
