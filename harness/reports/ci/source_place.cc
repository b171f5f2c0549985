#include "harness/reports/ci/source_place.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "harness/verdict/data_dir.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string relative_if_inside(const fs::path& file) {
  const fs::path relative = file.lexically_normal().lexically_relative(fs::current_path());
  return relative.empty() || *relative.begin() == ".." ? file.lexically_normal().string() : relative.string();
}

struct Wanted {
  Dwarf_Addr address;
  Dwarf_Die function;  // what has it
};

int stop_at_wanted(Dwarf_Die* function, void* wanted) {
  auto* const one = static_cast<Wanted*>(wanted);
  if (dwarf_haspc(function, one->address) != 1) return DWARF_CB_OK;
  one->function = *function;
  return DWARF_CB_ABORT;
}

// Where the function that has this address is declared; what was inlined into it, which its first line may be of, is not meant.
std::optional<SourcePlace> function_at(Dwarf_Die* unit, Dwarf_Addr address) {
  Wanted wanted{address, {}};
  if (dwarf_getfuncs(unit, stop_at_wanted, &wanted, 0) <= 0) return std::nullopt;
  int line = 0;
  const char* const file = dwarf_decl_file(&wanted.function);
  if (file == nullptr || dwarf_decl_line(&wanted.function, &line) != 0) return std::nullopt;
  Dwarf_Attribute attribute;
  const char* const folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  return SourcePlace{relative_if_inside(folder == nullptr ? fs::path(file) : fs::path(folder) / file), line};
}

std::optional<SourcePlace> from_debug_information(const CodePlace& code) {
  if (code.file.empty() || code.offset == 0) return std::nullopt;
  static char* no_path = nullptr;
  static const Dwfl_Callbacks callbacks{.find_elf = dwfl_build_id_find_elf,
                                        .find_debuginfo = dwfl_standard_find_debuginfo,
                                        .section_address = dwfl_offline_section_address,
                                        .debuginfo_path = &no_path};
  const std::unique_ptr<Dwfl, decltype(&dwfl_end)> session(dwfl_begin(&callbacks), dwfl_end);
  if (!session) return std::nullopt;
  Dwfl_Module* const module = dwfl_report_offline(session.get(), "", code.file.c_str(), -1);
  dwfl_report_end(session.get(), nullptr, nullptr);
  if (module == nullptr) return std::nullopt;
  Dwarf_Addr begin = 0;
  dwfl_module_info(module, nullptr, &begin, nullptr, nullptr, nullptr, nullptr, nullptr);
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, begin + code.offset, &bias);
  return unit == nullptr ? std::nullopt : function_at(unit, begin + code.offset - bias);
}

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool names_word(const std::string& line, const std::string& word) {
  for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || !in_name(line[at - 1]);
    const bool ends = at + word.size() == line.size() || !in_name(line[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

// The first line of the header that names the op; 1 where it is not at hand or names a pattern of ops.
SourcePlace specification(const Op& op) {
  SourcePlace place{op.family->header, 1};
  const fs::path data = data_dir();
  for (const fs::path& root : {data, data.parent_path().parent_path() / "include" / "assay"}) {
    std::ifstream in(root / op.family->header);
    std::string line;
    for (std::int64_t number = 1; std::getline(in, line); ++number) {
      if (names_word(line, op.name)) return {op.family->header, number};
    }
  }
  return place;
}

}  // namespace

SourcePlace source_place(const CodePlace& code, const Op& op) {
  if (const auto found = from_debug_information(code)) return *found;
  return specification(op);
}

std::map<std::string, SourcePlace> places_of_problems(const SuiteResult& result) {
  std::map<std::string, SourcePlace> places;
  for (const CaseResult& one : result.cases) {
    const std::string label = variant_label(one.op, one.variant);
    if (one.verdict == Verdict::pass || places.contains(label)) continue;
    const auto code = result.code.find(label);
    places[label] = source_place(code == result.code.end() ? CodePlace{} : code->second, require_op(one.op));
  }
  return places;
}

}  // namespace assay
