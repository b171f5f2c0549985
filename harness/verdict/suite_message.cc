#include "harness/verdict/suite_message.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace assay {
namespace {

// Both directions walk the same members: a Packer appends each, an Unpacker fills it.
class Packer {
 public:
  void bytes(void* data, std::size_t size) { out_.append(static_cast<const char*>(data), size); }
  std::uint64_t size(std::uint64_t here) {
    bytes(&here, sizeof here);
    return here;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view in) : in_(in) {}
  void bytes(void* data, std::size_t size) {
    if (size > in_.size()) throw std::runtime_error("a process of this run gave a garbled answer");
    std::memcpy(data, in_.data(), size);
    in_.remove_prefix(size);
  }
  // Each of what has a size takes a byte at least.
  std::uint64_t size(std::uint64_t /*here*/) {
    std::uint64_t there = 0;
    bytes(&there, sizeof there);
    if (there > in_.size()) throw std::runtime_error("a process of this run gave a garbled answer");
    return there;
  }

 private:
  std::string_view in_;
};

template <class Walk, class Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
void walk(Walk& to, Number& number) {
  to.bytes(&number, sizeof number);
}

template <class Walk>
void walk(Walk& to, std::string& text) {
  text.resize(to.size(text.size()));
  to.bytes(text.data(), text.size());
}

template <class Walk, class One>
void walk(Walk& to, std::optional<One>& value) {
  bool there = value.has_value();
  walk(to, there);
  if (there && !value) value.emplace();
  if (there) walk(to, *value);
}

template <class Walk, class One>
void walk(Walk& to, std::vector<One>& list) {
  list.resize(to.size(list.size()));
  for (One& one : list) walk(to, one);
}

template <class Walk>
void walk(Walk& to, std::set<std::string>& names) {
  std::vector<std::string> list(names.begin(), names.end());
  walk(to, list);
  names = {list.begin(), list.end()};
}

// Keys that the table of traits has.
template <class Walk>
void walk(Walk& to, std::set<std::string_view>& keys) {
  for (const TraitRow& row : kTraits) {
    bool there = keys.contains(row.key);
    walk(to, there);
    if (there) keys.insert(row.key);
  }
}

template <class Walk>
void walk(Walk& to, Params& params) {
  std::vector<std::string> names;
  for (const auto& [name, value] : params.values()) names.push_back(name);
  walk(to, names);
  for (const std::string& name : names) {
    ParamValue value = params.has(name) ? params.values().find(name)->second : ParamValue{};
    auto kind = static_cast<std::uint8_t>(value.index());
    walk(to, kind);
    if (kind != value.index()) value = kind == 1 ? ParamValue(0.0) : ParamValue(std::string());
    std::visit([&](auto& held) { walk(to, held); }, value);
    params.set(name, value);
  }
}

template <class Walk, class... Each>
void walk_all(Walk& to, Each&... each) {
  (walk(to, each), ...);
}

template <class Walk>
void walk(Walk& to, Failure& f) {
  walk_all(to, f.check, f.message);
}

template <class Walk>
void walk(Walk& to, CaseResult& r) {
  walk_all(to, r.op, r.variant, r.case_name, r.source, r.tags, r.verdict, r.trivial, r.in_ledger, r.drawn, r.refusal, r.compared,
           r.bits_only, r.placements, r.margin, r.worst, r.price, r.z, r.spread, r.nmse, r.all_close, r.failure, r.crashed,
           r.stability, r.digest, r.seed, r.data, r.params, r.repro);
}

template <class Walk>
void walk(Walk& to, std::map<std::string, TraitRecord>& records) {
  std::vector<std::string> names;
  for (const auto& [name, record] : records) names.push_back(name);
  walk(to, names);
  for (const std::string& name : names) walk_all(to, records[name].seen, records[name].not_asked, records[name].price);
}

template <class Walk>
void walk(Walk& to, UnitResult& u) {
  walk_all(to, u.known, u.cases, u.shapes, u.tags, u.traits, u.done);
}

template <class Walk>
void walk(Walk& to, SuiteMessage& message) {
  walk(to, message.what);
  switch (message.what) {
    case SuiteMessage::What::planned:
      return walk(to, message.planned);
    case SuiteMessage::What::done:
      return walk(to, message.one);
    case SuiteMessage::What::unit:
      return walk(to, message.unit);
    case SuiteMessage::What::error:
      return walk(to, message.error);
  }
  throw std::runtime_error("a process of this run gave a garbled answer");
}

}  // namespace

std::string to_bytes(SuiteMessage& message) {
  Packer packer;
  walk(packer, message);
  return packer.take();
}

SuiteMessage message_from(std::string_view bytes) {
  Unpacker unpacker(bytes);
  SuiteMessage message;
  walk(unpacker, message);
  return message;
}

}  // namespace assay
