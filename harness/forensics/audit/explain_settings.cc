// Numbers and switches of an op: eps, theta, pairings, masks, roundings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/forensics/audit/explain.h"
#include "reference/convert.h"

namespace assay::explanation {
namespace {

constexpr std::array kEps = {0.0, 1e-12, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
constexpr std::array kThetas = {1e4, 1e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1e8};
constexpr std::array kRoundings = {ActivationRounding::none,     ActivationRounding::f16,       ActivationRounding::bf16,
                                   ActivationRounding::q8_0,     ActivationRounding::q8_0_by_d, ActivationRounding::q8_k,
                                   ActivationRounding::u8_tensor};
struct Narrowed {
  ActivationRounding SiteCall::*which;
  const char* name;
};
constexpr std::array<Narrowed, 3> kNarrowed = {
    {{&SiteCall::frequencies, "frequencies"}, {&SiteCall::angles, "angles"}, {&SiteCall::sines, "sines and cosines"}}};

struct Turn {
  double factor;
  const char* name;
};
constexpr std::array<Turn, 7> kTurns = {{{0, "not rotated"},
                                         {-1, "rotated the other way"},
                                         {2, "rotated twice"},
                                         {0.5, "positions halved"},
                                         {0.25, "positions over 4"},
                                         {0.125, "positions over 8"},
                                         {0.0625, "positions over 16"}}};
struct RotatedPart {
  std::int64_t quarters;
  const char* name;
};
constexpr std::array<RotatedPart, 3> kRotatedParts = {{{2, "half"}, {1, "quarter"}, {3, "three quarters"}}};
struct GateName {
  Gate gate;
  const char* name;
};
constexpr std::array<GateName, 5> kGates = {{{Gate::gelu, "gelu in the place of silu"},
                                             {Gate::gelu_tanh, "gelu by tanh in the place of silu"},
                                             {Gate::relu, "relu in the place of silu"},
                                             {Gate::sigmoid, "sigmoid in the place of silu"},
                                             {Gate::identity, "no silu"}}};

template <class Narrow>
bool holds(const RowMatrix& value) {
  return value.unaryExpr([](double x) { return Narrow::decode(reference::narrow<Narrow>(static_cast<float>(x))) == x; }).all();
}

// A sum in a narrow type can only give numbers of that type.
void try_sums(Tries& tries) {
  const auto attempt = [&](bool narrow, ActivationRounding sums, const char* type) {
    if (!narrow || sums == tries.site().recipe.sums) return;
    tries.attempt_recipe(fmt::format("each term and each sum rounded to {}, one after the other", type),
                         [&](Recipe& recipe) { recipe.sums = sums; });
  };
  attempt(holds<reference::Bfloat>(tries.value()), ActivationRounding::bf16, "bf16");
  attempt(holds<reference::Half>(tries.value()), ActivationRounding::f16, "f16");
}

void try_roundings(Tries& tries) {
  const Eigen::Index width = tries.site().call.inputs[0].cols();
  for (const ActivationRounding rounding : kRoundings) {
    if (rounding == tries.site().call.activations || width % numbers_of(rounding) != 0) continue;
    tries.attempt(fmt::format("activations {}", rounding_name(rounding)), [&](SiteCall& call) { call.activations = rounding; });
  }
  try_sums(tries);
}

void try_norms(Tries& tries) {
  std::vector<double> fitting;  // small ones may differ by less than rounding
  for (const double eps : kEps) {
    SiteCall call = tries.site().call;
    call.eps = eps;
    if (eps != tries.site().call.eps && tries.fits(call)) fitting.push_back(eps);
  }
  if (!fitting.empty()) tries.add(fmt::format("eps {}", fmt::join(fitting, " or ")));
  tries.attempt("eps added to the root, not under it", [](SiteCall& call) { call.eps_outside = true; });
  tries.attempt("eps added to the sum, not to the mean",
                [](SiteCall& call) { call.eps *= static_cast<double>(call.heads) / static_cast<double>(call.inputs[0].cols()); });
  tries.attempt("the mean taken off first", [](SiteCall& call) { call.centred = true; });
  if (tries.site().call.heads > 1) {
    tries.attempt("one root for all heads", [](SiteCall& call) { call.heads_together = true; });
  }
  // Norm of the norm: the first one's error is in the second's input.
  try {
    const Truth once = evaluate(tries.site().call, tries.site().recipe, tries.site().team);
    Truth twice = tries.truth_with([&](SiteCall& call) { call.inputs[0] = once.value; });
    twice.bound *= 3;
    if (excess_of(tries.value(), twice).ratio <= 1) tries.add("applied twice");
  } catch (const std::invalid_argument&) {
    return;  // shapes that do not fit explain nothing
  }
}

void try_rotations(Tries& tries) {
  for (const double theta : kThetas) {
    if (theta == tries.site().call.theta) continue;
    tries.attempt(fmt::format("theta {}", theta), [&](SiteCall& call) { call.theta = theta; });
  }
  tries.attempt("adjacent pairs", [](SiteCall& call) { call.adjacent = true; });
  for (const auto& [quarters, name] : kRotatedParts)
    tries.attempt(fmt::format("only the first {} of each head rotated", name),
                  [&](SiteCall& call) { call.rotated_quarters = quarters; });
  for (const Turn& turn : kTurns) tries.attempt(turn.name, [&](SiteCall& call) { call.turn = turn.factor; });
  for (const Narrowed& one : kNarrowed) {
    for (const ActivationRounding rounding : {ActivationRounding::f16, ActivationRounding::bf16})
      tries.attempt(fmt::format("{} {}", one.name, rounding_name(rounding)), [&](SiteCall& call) { call.*one.which = rounding; });
  }
  const std::int64_t first = tries.site().call.positions.front();
  for (const std::int64_t shift : {std::int64_t{-1}, std::int64_t{1}, -first}) {
    if (shift == 0 || (shift == -first && first == 1)) continue;
    tries.attempt(fmt::format("positions moved by {}", shift), [&](SiteCall& call) { call.shift = shift; });
  }
}

void try_attention(Tries& tries) {
  const SiteCall& own = tries.site().call;
  if (own.heads > own.kv_heads && own.kv_heads > 1)
    tries.attempt("kv head = h % n_kv", [](SiteCall& call) { call.kv_modulo = true; });
  tries.attempt("a mask that hides the token itself", [](SiteCall& call) { call.mask_ahead = -1; });
  tries.attempt("a mask that shows the next token", [](SiteCall& call) { call.mask_ahead = 1; });
  tries.attempt("no mask", [](SiteCall& call) { call.mask_ahead = std::int64_t{1} << 40; });
  const double d = static_cast<double>(own.inputs[0].cols()) / static_cast<double>(own.heads);
  tries.attempt("scores not scaled", [](SiteCall& call) { call.score_scale = 1; });
  tries.attempt("scores over head_dim, not its root", [&](SiteCall& call) { call.score_scale = 1 / d; });
  tries.attempt("keys and values exchanged", [](SiteCall& call) { std::swap(call.inputs[1], call.inputs[2]); });
  tries.attempt("q, k, v and the softmax in f16, as with a cache of f16", [](SiteCall& call) { call.half_cache = true; });
  if (own.window > 0) tries.attempt("no window", [](SiteCall& call) { call.window = 0; });
}

// A sigmoid whose error does not shrink with it: rational functions and tables have such. How large it is at least, as a power of two.
void try_sigmoid(Tries& tries) {
  for (const double error : {0x1p-26, 0x1p-25, 0x1p-24, 0x1p-23, 0x1p-22, 0x1p-21, 0x1p-20}) {
    if (error <= tries.site().recipe.sigmoid) continue;
    const std::string what =
        fmt::format("a sigmoid off by up to {:.1g} also where it is small, at a gate of -6.5 {:.1g} of itself", error,
                    error * (1 + std::exp(6.5)));
    if (tries.attempt_recipe(what, [&](Recipe& recipe) { recipe.sigmoid = error; })) return;
  }
}

void try_gates(Tries& tries) {
  tries.attempt("gate and up exchanged", [](SiteCall& call) { std::swap(call.inputs[0], call.inputs[1]); });
  for (const GateName& one : kGates) tries.attempt(one.name, [&](SiteCall& call) { call.gate = one.gate; });
  const Recipe& recipe = tries.site().recipe;
  if (recipe.inner.u > 0 && recipe.silu_steps < 2)
    tries.attempt_recipe("silu's sigmoid rounded by itself, before its product", [](Recipe& changed) { changed.silu_steps = 2; });
  if (tries.found().empty()) try_sigmoid(tries);
}

// Results in a type narrower than the recipe's: every value is one of that type's, and near enough.
void try_stored(Tries& tries) {
  if (tries.site().recipe.stored.u > 0) return;
  const auto attempt = [&](bool narrow, const Storage& stored, const char* what) {
    if (!narrow) return;
    Recipe recipe = tries.site().recipe;
    recipe.stored = stored;
    if (tries.left(tries.site().call, recipe) <= 1) tries.add(what);
  };
  attempt(holds<reference::Bfloat>(tries.value()), kKeptBf16, "results stored in bf16");
  attempt(holds<reference::Half>(tries.value()), kKeptF16, "results stored in f16");
}

constexpr TriedOf kSettings[] = {{Formula::linear, try_roundings},
                                 {Formula::rms_norm, try_norms},
                                 {Formula::rope, try_rotations},
                                 {Formula::attention, try_attention},
                                 {Formula::swiglu, try_gates}};

}  // namespace

void try_settings(Tries& tries) {
  try_by_formula(tries, kSettings);
  try_stored(tries);
}

}  // namespace assay::explanation
