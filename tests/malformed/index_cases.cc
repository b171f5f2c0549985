// Shards and the index that names them.
#include "tests/malformed/folder_image.h"

namespace assay::malformed {
namespace {

constexpr const char* kEscape = "a shard's name that leads out of the folder";

std::string index_text() {
  const auto files = right_shards();
  const Bytes& bytes = files.at(kIndex);
  return {bytes.begin(), bytes.end()};
}

void add_index(std::vector<Case>& cases, const std::string& name, const std::string& mechanism, Fault fault,
               const std::string& mentions, const std::string& index) {
  auto files = right_shards();
  files[kIndex] = from_text(index);
  cases.push_back({"index-" + name, mechanism, std::move(files), fault, kIndex, mentions});
}

void add_names(std::vector<Case>& cases) {
  const std::string entry = "\"model.norm.weight\":\"" + std::string(kSecondShard) + "\"";
  const auto add = [&](const std::string& name, const std::string& shard) {
    add_index(cases, "shard-" + name, kEscape, Fault::shard_name, "weight_map 'model.norm.weight'",
              replaced(index_text(), entry, "\"model.norm.weight\":\"" + shard + "\""));
  };
  add("parent", "../model.safetensors");
  add("absolute", "/etc/model.safetensors");
  add("in-folder", "sub/model.safetensors");
  add("dot-slash", "./model-00002-of-00002.safetensors");
  add("up-and-down", "x/../../model.safetensors");
  add("backslash", "..\\\\model.safetensors");
  add("empty", "");
  add("dots", "..");
  add("with-zero", "model\\u0000.safetensors");
  add("not-ascii", "mod\\u00e8l.safetensors");
  add("pickle", "pytorch_model.bin");
  add("proc", "/proc/self/mem");
  add_index(cases, "shard-number", "a number taken for a name", Fault::member, "weight_map 'model.norm.weight'",
            replaced(index_text(), entry, "\"model.norm.weight\":2"));
  add_index(cases, "shard-null", "nothing taken for a name", Fault::member, "weight_map 'model.norm.weight'",
            replaced(index_text(), entry, "\"model.norm.weight\":null"));
  add_index(cases, "shard-absent", "a shard that is not there", Fault::unreadable, "cannot be read",
            replaced(index_text(), entry, entry + ",\"other\":\"model-00003-of-00002.safetensors\""));
  cases.back().file = "model-00003-of-00002.safetensors";
}

void add_structure(std::vector<Case>& cases) {
  const std::string mechanism = "an index that is none";
  add_index(cases, "empty", mechanism, Fault::truncated, "byte 0", "");
  add_index(cases, "list", mechanism, Fault::json, "byte 0", "[]");
  add_index(cases, "cut", mechanism, Fault::json, "byte", index_text().substr(0, 200));
  add_index(cases, "not-utf8", mechanism, Fault::json, "byte", "{\"weight_map\":{\"\xff\":\"a\"}}");
  add_index(cases, "without-map", mechanism, Fault::member, "member 'weight_map'", "{\"metadata\":{}}");
  add_index(cases, "map-list", mechanism, Fault::member, "member 'weight_map'", "{\"weight_map\":[]}");
  add_index(cases, "map-empty", mechanism, Fault::member, "member 'weight_map'", "{\"weight_map\":{}}");
  add_index(cases, "map-twice", "the first checked, the second used", Fault::duplicate, "member 'weight_map'",
            replaced(index_text(), "{\"metadata\"", "{\"weight_map\":{},\"metadata\""));
  add_index(cases, "tensor-twice", "the first checked, the second used", Fault::duplicate, "member 'model.norm.weight'",
            replaced(index_text(), "\"model.norm.weight\"",
                     "\"model.norm.weight\":\"" + std::string(kFirstShard) + "\",\"model.norm.weight\""));
  add_index(cases, "nested-deeply", "a parser that recurses", Fault::json_limit, "member 'weight_map'",
            "{\"weight_map\":" + std::string(50'000, '['));
}

void add_agreement(std::vector<Case>& cases) {
  const std::string mechanism = "index and shards that disagree: a tensor from another file than the checked one";
  const std::string first = kFirstShard;
  const std::string second = kSecondShard;
  const std::string entry = "\"model.norm.weight\":\"" + second + "\"";
  add_index(cases, "wrong-shard", mechanism, Fault::weight_map, "tensor 'model.norm.weight'",
            replaced(index_text(), entry, "\"model.norm.weight\":\"" + first + "\""));
  cases.back().file = second;
  add_index(cases, "tensor-not-listed", mechanism, Fault::weight_map, "tensor 'model.norm.weight'",
            replaced(index_text(), "," + entry, ""));
  cases.back().file = second;
  add_index(cases, "tensor-not-there", mechanism, Fault::weight_map, "weight_map 'model.norm.bias'",
            replaced(index_text(), entry, entry + ",\"model.norm.bias\":\"" + second + "\""));
  auto files = right_shards();
  files[kSecondShard] = files[kFirstShard];
  cases.push_back({"index-shard-given-twice", mechanism, files, Fault::weight_map, second, "tensor 'model."});
  files = right_shards();
  files[kSecondShard].pop_back();
  cases.push_back({"index-shard-cut", mechanism, files, Fault::outside_file, second, "tensor 'model.norm.weight'"});
  files = right_shards();
  files.erase(kSecondShard);
  cases.push_back({"index-shard-removed", mechanism, files, Fault::unreadable, second, "cannot be read"});
}

}  // namespace

void add_index_cases(std::vector<Case>& cases) {
  add_names(cases);
  add_structure(cases);
  add_agreement(cases);
}

}  // namespace assay::malformed
