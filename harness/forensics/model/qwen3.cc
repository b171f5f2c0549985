// Qwen3, dense: norms before attention and feed-forward, grouped queries with a norm of each head, SwiGLU.
#include "harness/forensics/model/definition.h"

namespace assay {
namespace {

using enum Formula;

using Width = std::int64_t(const ModelConfig&);
constexpr Width* hidden = [](const ModelConfig& c) { return c.hidden; };
constexpr Width* ffn = [](const ModelConfig& c) { return c.ffn; };
constexpr Width* vocab = [](const ModelConfig& c) { return c.vocab; };
constexpr Width* queries = [](const ModelConfig& c) { return c.q_width(); };
constexpr Width* keys = [](const ModelConfig& c) { return c.kv_width(); };
constexpr Width* keys_and_values = [](const ModelConfig& c) { return 2 * c.kv_width(); };
constexpr Width* angles = [](const ModelConfig& c) { return c.head_dim; };
constexpr auto kHeads = &ModelConfig::heads;
constexpr auto kKvHeads = &ModelConfig::kv_heads;
constexpr auto kNone = std::nullopt;

constexpr SiteDefinition kBefore[] = {
    {"rope_table", rope_table, {}, angles},
    {"embed", embed, {}, hidden, nullptr, Role::embed, {{{"embd", "GET_ROWS"}, {"inp_embd", "GET_ROWS"}}}}};

constexpr SiteDefinition kLayer[] = {
    {"attn_norm", rms_norm, {kStream}, hidden, nullptr, Role::attn_norm, {{{"attn_norm", "MUL"}}}},
    {"q_proj", linear, {"attn_norm"}, queries, nullptr, Role::q_proj, {{{"Qcur", "MUL_MAT"}}}},
    {"k_proj", linear, {"attn_norm"}, keys, nullptr, Role::k_proj, {{{"Kcur", "MUL_MAT"}}}},
    {"v_proj", linear, {"attn_norm"}, keys, nullptr, Role::v_proj, {{{"Vcur", "MUL_MAT"}}}},
    {"q_norm", rms_norm, {"q_proj"}, queries, kHeads, Role::q_norm, {{{"Qcur_normed", "MUL"}}}},
    {"k_norm", rms_norm, {"k_proj"}, keys, kKvHeads, Role::k_norm, {{{"Kcur_normed", "MUL"}}}},
    {"q_rope", rope, {"q_norm"}, queries, kHeads, kNone, {{{"Qcur", "ROPE"}}}},
    {"k_rope", rope, {"k_norm"}, keys, kKvHeads, kNone, {{{"Kcur", "ROPE"}}}},
    {"kv_store", kv_store, {"k_rope", "v_proj"}, keys_and_values},
    {"attn", attention, {"q_rope", "k_rope", "v_proj"}, queries, kHeads, kNone, {{{"kqv_out", "CONT"}}}},
    {"o_proj", linear, {"attn"}, hidden, nullptr, Role::o_proj, {{{"", "MUL_MAT"}}}},
    {"attn_residual", add, {kStream, "o_proj"}, hidden, nullptr, kNone, {{{"ffn_inp", "ADD"}}}},
    {"ffn_norm", rms_norm, {"attn_residual"}, hidden, nullptr, Role::ffn_norm, {{{"ffn_norm", "MUL"}}}},
    {"gate_proj", linear, {"ffn_norm"}, ffn, nullptr, Role::gate_proj, {{{"ffn_gate", "MUL_MAT"}}}},
    {"up_proj", linear, {"ffn_norm"}, ffn, nullptr, Role::up_proj, {{{"ffn_up", "MUL_MAT"}}}},
    {"swiglu", swiglu, {"gate_proj", "up_proj"}, ffn, nullptr, kNone, {{{"ffn_swiglu", "GLU"}, {"ffn_swiglu", "SWIGLU"}}}},
    {"down_proj", linear, {"swiglu"}, hidden, nullptr, Role::down_proj, {{{"ffn_out", "MUL_MAT"}}}},
    {"ffn_residual", add, {"attn_residual", "down_proj"}, hidden, nullptr, kNone, {{{"l_out", "ADD"}}}}};

constexpr SiteDefinition kAfter[] = {
    {"final_norm", rms_norm, {kStream}, hidden, nullptr, Role::final_norm, {{{"result_norm", "MUL"}}}},
    {"lm_head", linear, {"final_norm"}, vocab, nullptr, Role::lm_head, {{{"result_output", "MUL_MAT"}}}}};

}  // namespace

constinit const Architecture kQwen3{"qwen3", kBefore, kLayer, kAfter};

}  // namespace assay
