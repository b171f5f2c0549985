#include "tests/fuzz/seeds.h"

#include <stdexcept>
#include <string>

#include "harness/interop/runner/messages.h"
#include "harness/plugin/assay_plugin.h"
#include "harness/verdict/guard.h"
#include "kernels/abi.h"
#include "kernels/op_tables.h"
#include "tests/fuzz/sections.h"
#include "tests/malformed/folder_image.h"
#include "tests/malformed/malformed.h"

namespace assay::fuzz {
namespace {

using malformed::Case;

Seed text_seed(const std::string& name, std::string_view text) {
  return {name, {text.begin(), text.end()}};
}

std::vector<Case> cases() {
  std::vector<Case> all = malformed::right_files();
  for (Case& wrong : malformed::all_cases()) all.push_back(std::move(wrong));
  return all;
}

std::vector<Seed> gguf_seeds(std::string_view first_line) {
  std::vector<Seed> seeds;
  for (const Case& one : cases()) {
    const auto file = one.files.find("model.gguf");
    if (file == one.files.end()) continue;
    Seed seed = text_seed(one.name, first_line);
    seed.bytes.insert(seed.bytes.end(), file->second.begin(), file->second.end());
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

std::vector<Seed> plan_seeds() {
  std::vector<Seed> seeds = gguf_seeds("--context 64 --kv paged --kv-type f16\n");
  const std::vector<std::uint8_t> right(cases().front().files.at("model.gguf"));
  for (const char* line :
       {"", "--json", "--all", "--kv ring --window 8 --context 32", "--kv grow --chunk 1", "--kv chunks --rope ggml",
        "--kv reserved --rope hf --context 9223372036854775807", "--kv none --chunk 9223372036854775807",
        "--kv paged --window 9223372036854775807 --context 4611686018427387904", "--context=0", "--kv contiguous"}) {
    Seed seed = text_seed("options-" + std::to_string(seeds.size()), std::string(line) + "\n");
    seed.bytes.insert(seed.bytes.end(), right.begin(), right.end());
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

std::vector<Seed> folder_seeds() {
  std::vector<Seed> seeds;
  for (const Case& one : cases()) {
    if (one.files.contains("model.gguf")) continue;
    std::map<std::string, std::vector<std::uint8_t>> files;
    for (const auto& [name, bytes] : one.files) {
      files[name == malformed::kFirstShard    ? "model-1.safetensors"
            : name == malformed::kSecondShard ? "model-2.safetensors"
                                              : name] = bytes;
    }
    seeds.push_back({one.name, joined(files)});
  }
  return seeds;
}

std::vector<Seed> safetensors_seeds() {
  std::vector<Seed> seeds;
  for (const Case& one : cases()) {
    const auto file = one.files.find("model.safetensors");
    if (file != one.files.end()) seeds.push_back({one.name, file->second});
  }
  return seeds;
}

std::vector<Seed> tokenizer_seeds() {
  const std::string frame =
      R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"PATTERN"},"behavior":"Isolated"},)"
      R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},"decoder":{"type":"ByteLevel"},)";
  std::vector<Seed> seeds;
  int number = 0;
  for (const char* pattern : {R"(\\p{L}+|\\p{N}|\\s+)", R"((a|b)*?\\w{2,})", R"((?i:'s|'t)|[^\\r\\n]+)"}) {
    std::string vocabulary;
    // Every byte's letter: 33-126, 161-172, 174-255 are themselves, the others follow from 256 on.
    int other = 0;
    for (int byte = 0; byte < 256; ++byte) {
      const bool itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      const int letter = itself ? byte : 256 + other++;
      char text[32];
      std::snprintf(text, sizeof text, "%s\"\\u%04x\":%d", byte == 0 ? "" : ",", letter, byte);
      vocabulary += text;
    }
    vocabulary += R"(,"In":256,"the":257,"he":258)";
    std::string text = R"({"version":"1.0","normalizer":{"type":"NFC"},)" + malformed::replaced(frame, "PATTERN", pattern) +
                       R"("added_tokens":[{"id":259,"content":"<|im_end|>","single_word":false,"lstrip":false,"rstrip":false,)"
                       R"("normalized":false,"special":true}],"model":{"type":"BPE","vocab":{)" +
                       vocabulary + R"(},"merges":["I n",["h","e"],"t he"]}})";
    seeds.push_back(text_seed("pattern-" + std::to_string(number++), text));
  }
  seeds.push_back(text_seed("config", R"({"eos_token":{"content":"<|im_end|>"}})"));
  return seeds;
}

std::vector<Seed> text_seeds() {
  return {text_seed("plain", "In the beginning God created the heaven and the earth.\n"),
          text_seed("specials", "<|im_start|>user\nHi<|im_end|>\n<|endoftext|>"),
          text_seed(
              "marks",
              "caf\xc3\xa9 e\xcc\x81\xcc\xa3 \xea\xb0\x80\xe1\x86\xa8 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb \xe2\x84\xab"),
          text_seed("broken", "\xff\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82")};
}

wire::Greeting greeting() {
  wire::Greeting greeting;
  greeting.abi = ASSAY_PLUGIN_ABI;
  greeting.page_bytes = guard_page_bytes();
  greeting.machine = "x86_64";
  greeting.isas = "scalar";
  greeting.kernels = {{"add", "add_scalar", "scalar", true, find_op_table("add")->args_bytes, 0, ""}};
  return greeting;
}

// A call of two parts that point into one memory and into each other.
std::string call_payload(const std::vector<std::byte>& memory, bool at_once, std::uint32_t packed) {
  wire::CallRequest request;
  request.limit_ms = 1000;
  request.at_once = at_once;
  request.packed = packed;
  wire::PartImage part;
  part.blocks = {std::vector<std::byte>(24), std::vector<std::byte>(8)};
  part.blocks[0][4] = std::byte{100};
  part.pointers = {{0, 8, false, 0, 16}, {0, 16, true, 1, 0}};
  request.parts = {part, part};
  request.memories = {memory};
  request.read_only = {at_once};
  return encode(request);
}

wire::Fault fault() {
  wire::Fault fault;
  fault.signal = 11;
  fault.where = wire::Where::memory;
  fault.offset = 40;
  return fault;
}

std::vector<Seed> message_seeds() {
  const wire::Loaded loaded{"mine", "1.0", {{"add", "fast", "avx2", true, 32, 1, "x"}}};
  const std::vector<std::byte> memory(16);
  wire::Done done;
  done.statuses = {0, 1};
  done.memories = {std::span(memory).first(0), std::span(memory), std::nullopt};
  const std::pair<const char*, std::string> payloads[] = {
      {"greeting", encode(greeting())}, {"loaded", encode(loaded)}, {"call", call_payload(memory, true, 0)},
      {"done", encode(done)},           {"fault", encode(fault())}, {"head", encode(wire::Header{wire::Kind::call, 7, 4096})}};
  std::vector<Seed> seeds;
  for (const auto& [name, payload] : payloads) {
    // A done's second and further decimal: how many parts were called.
    const auto kind = static_cast<char>(seeds.size() + (seeds.size() == 3 ? 12 : 0));
    seeds.push_back(text_seed(name, kind + payload));
  }
  return seeds;
}

std::vector<Seed> request_seeds() {
  const std::vector<std::byte> page(guard_page_bytes());
  return {text_seed("one-after-the-other", call_payload(page, false, wire::kNone)),
          text_seed("at-once", call_payload(page, true, wire::kNone)), text_seed("packed", call_payload(page, false, 0)),
          text_seed("no-memory", call_payload({}, false, 1))};
}

std::string frame(wire::Kind kind, std::uint64_t sequence, const std::string& payload) {
  return encode(wire::Header{kind, sequence, payload.size()}) + payload;
}

// Greeting, then each kind of answer to one call of add.
std::vector<Seed> runner_seeds() {
  const std::string greets = frame(wire::Kind::greeting, 0, encode(greeting()));
  const std::vector<std::byte> page(guard_page_bytes());
  wire::Done same;
  same.statuses = {0};
  same.memories = {std::nullopt, std::nullopt, std::nullopt};
  wire::Done changed = same;
  changed.memories[2] = std::span(page);
  wire::Fault packed = fault();
  packed.where = wire::Where::packed;
  packed.packed_bytes = 64;
  wire::Fault threw = fault();
  threw.text = "threw";
  return {text_seed("greeting", greets),
          text_seed("done", greets + frame(wire::Kind::done, 1, encode(same))),
          text_seed("changed", greets + frame(wire::Kind::done, 1, encode(changed))),
          text_seed("fault", greets + frame(wire::Kind::fault, 1, encode(fault()))),
          text_seed("fault-packed", greets + frame(wire::Kind::fault, 1, encode(packed))),
          text_seed("fault-threw", greets + frame(wire::Kind::fault, 1, encode(threw))),
          text_seed("refused", greets + frame(wire::Kind::refused, 1, "asks for kernel 9"))};
}

}  // namespace

std::vector<Seed> seeds_of(std::string_view target) {
  if (target == "gguf") return gguf_seeds("");
  if (target == "safetensors") return safetensors_seeds();
  if (target == "folder") return folder_seeds();
  if (target == "plan") return plan_seeds();
  if (target == "tokenizer") return tokenizer_seeds();
  if (target == "text") return text_seeds();
  if (target == "messages") return message_seeds();
  if (target == "requests") return request_seeds();
  if (target == "runner") return runner_seeds();
  if (target == "golden") return golden_recipes();
  if (target == "trace") return trace_recipes();
  throw std::logic_error("no seeds of " + std::string(target));
}

}  // namespace assay::fuzz
