#include "tests/fuzz/hdf5_recipe.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "golden/hdf5_handle.h"

namespace assay::fuzz {
namespace {

using Handle = Hdf5Handle;
using Words = std::vector<std::string>;

std::int64_t integer(const std::string& word) {
  return word.starts_with("-") ? std::strtoll(word.c_str(), nullptr, 0)
                               : static_cast<std::int64_t>(std::strtoull(word.c_str(), nullptr, 0));
}

hid_t text_type(std::size_t size) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  return type;
}

hid_t pair_type() {
  const hid_t type = H5Tcreate(H5T_COMPOUND, 8);
  H5Tinsert(type, "first", 0, H5T_STD_I32LE);
  H5Tinsert(type, "second", 4, H5T_IEEE_F32LE);
  return type;
}

hid_t element_type(const std::string& name) {
  if (name == "f16") return hdf5_half_type();
  if (name == "text") return text_type(8);
  if (name == "words") return text_type(H5T_VARIABLE);
  if (name == "pair") return pair_type();
  if (name == "enum") return H5Tenum_create(H5T_STD_I32LE);
  const std::pair<const char*, hid_t> plain[] = {{"f32", H5T_IEEE_F32LE}, {"f64", H5T_IEEE_F64LE}, {"i8", H5T_STD_I8LE},
                                                 {"i16", H5T_STD_I16LE},  {"i32", H5T_STD_I32LE},  {"i64", H5T_STD_I64LE},
                                                 {"u8", H5T_STD_U8LE},    {"u16", H5T_STD_U16LE},  {"u32", H5T_STD_U32LE},
                                                 {"u64", H5T_STD_U64LE},  {"be32", H5T_IEEE_F32BE}};
  for (const auto& [known, type] : plain) {
    if (name == known) return H5Tcopy(type);
  }
  return -1;
}

// The dimensions of "2x3".
std::vector<hsize_t> dimensions(const std::string& word) {
  std::vector<hsize_t> dims;
  std::istringstream in(word);
  for (std::string dim; std::getline(in, dim, 'x') && dims.size() < 12;) dims.push_back(static_cast<hsize_t>(integer(dim)));
  return dims;
}

// Between what is written here and what a reader refuses without looking.
bool is_large(const std::vector<hsize_t>& dims) {
  std::uint64_t elements = 1;
  for (const hsize_t dim : dims) {
    if (dim != 0 && elements > (std::uint64_t{1} << 31) / dim) return false;
    elements *= dim;
  }
  return elements > kMostRecipeElements;
}

bool is_writable(const std::vector<hsize_t>& dims) {
  std::uint64_t elements = 1;
  for (const hsize_t dim : dims) {
    if (dim > kMostRecipeElements) return false;
    elements *= dim;
    if (elements > kMostRecipeElements) return false;
  }
  return true;
}

// The values as `type` has them, repeated.
std::vector<char> filled(hid_t type, std::size_t elements, std::span<const std::string> values) {
  const std::size_t size = H5Tget_size(type);
  std::vector<char> bytes(size * elements);
  if (values.empty() || H5Tis_variable_str(type) > 0) return bytes;
  const bool real = H5Tget_class(type) == H5T_FLOAT;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::string& word = values[i % values.size()];
    char raw[16] = {};
    const double number = std::strtod(word.c_str(), nullptr);
    const std::int64_t whole = integer(word);
    std::memcpy(raw, real ? static_cast<const void*>(&number) : static_cast<const void*>(&whole), 8);
    if (real) H5Tconvert(H5T_NATIVE_DOUBLE, type, 1, raw, nullptr, H5P_DEFAULT);
    std::memcpy(bytes.data() + i * size, raw, std::min<std::size_t>(size, 8));
  }
  return bytes;
}

class Kitchen {
 public:
  explicit Kitchen(hid_t file) : file_(file) {}

  void follow(const Words& words) {
    if (words.size() < 2) return;
    if (words[0] == "G") return group(words[1]);
    if (words.size() < 3) return;
    if (words[0] == "L") H5Lcreate_soft(words[2].c_str(), file_, words[1].c_str(), H5P_DEFAULT, H5P_DEFAULT);
    if (words[0] == "H") H5Lcreate_hard(file_, words[2].c_str(), file_, words[1].c_str(), H5P_DEFAULT, H5P_DEFAULT);
    if (words[0] == "X") H5Lcreate_external("/nowhere.h5", words[2].c_str(), file_, words[1].c_str(), H5P_DEFAULT, H5P_DEFAULT);
    if (words[0] == "A" && words.size() >= 5) attribute(words);
    if (words[0] == "D" && words.size() >= 5) dataset(words);
  }

 private:
  void group(const std::string& path) {
    const Handle links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links, 1);
    const Handle made(H5Gcreate2(file_, path.c_str(), links, H5P_DEFAULT, H5P_DEFAULT));
  }

  void attribute(const Words& words) {
    const Handle object(H5Oopen(file_, words[1].c_str(), H5P_DEFAULT));
    if (object < 0) return;
    const char kind = words[3][0];
    if (kind == 'a') return integers(object, words);
    std::string text = words[4];
    for (std::size_t i = 5; i < words.size(); ++i) text += " " + words[i];
    const char* pointer = text.c_str();
    const std::int64_t whole = integer(words[4]);
    const double real = std::strtod(words[4].c_str(), nullptr);
    const Handle type(kind == 's'   ? text_type(text.size())
                      : kind == 'v' ? text_type(H5T_VARIABLE)
                                    : H5Tcopy(kind == 'r'   ? H5T_NATIVE_DOUBLE
                                              : kind == 'b' ? H5T_NATIVE_UINT8
                                                            : H5T_NATIVE_INT64));
    const Handle space(H5Screate(H5S_SCALAR));
    const Handle made(H5Acreate2(object, words[2].c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
    if (made < 0) return;
    H5Awrite(made, type,
             kind == 's'   ? static_cast<const void*>(text.data())
             : kind == 'v' ? static_cast<const void*>(&pointer)
             : kind == 'r' ? static_cast<const void*>(&real)
                           : static_cast<const void*>(&whole));
  }

  static void integers(hid_t object, const Words& words) {
    std::vector<std::int64_t> values;
    for (std::size_t i = 4; i < words.size(); ++i) values.push_back(integer(words[i]));
    if (is_large({values.begin(), values.end()})) return;
    const hsize_t count = values.size();
    const Handle space(H5Screate_simple(1, &count, nullptr));
    const Handle made(H5Acreate2(object, words[2].c_str(), H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT));
    if (made >= 0) H5Awrite(made, H5T_NATIVE_INT64, values.data());
  }

  void dataset(const Words& words) {
    const Handle type(element_type(words[2]));
    if (type < 0) return;
    const bool bare = words[3] == "scalar" || words[3] == "null";
    const std::vector<hsize_t> dims = bare ? std::vector<hsize_t>{} : dimensions(words[3]);
    if (is_large(dims)) return;
    const int rank = static_cast<int>(dims.size());
    const Handle space(bare ? H5Screate(words[3] == "null" ? H5S_NULL : H5S_SCALAR)
                            : H5Screate_simple(rank, dims.data(), nullptr));
    if (space < 0) return;
    const bool writable = words[4] != "unwritten" && words[4] != "virtual" && words[3] != "null" && is_writable(dims);
    const Handle creation(layout(words[4], dims, type));
    const Handle links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links, 1);
    const Handle made(H5Dcreate2(file_, words[1].c_str(), type, space, links, creation, H5P_DEFAULT));
    if (made < 0 || !writable || words[2] == "words") return;
    const auto elements = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
    H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, filled(type, elements, std::span(words).subspan(5)).data());
  }

  static hid_t layout(const std::string& name, const std::vector<hsize_t>& dims, hid_t type) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    std::vector<hsize_t> chunk(dims.size());
    std::transform(dims.begin(), dims.end(), chunk.begin(), [](hsize_t dim) { return std::clamp<hsize_t>(dim, 1, 4); });
    const bool chunked = name == "chunks" || name == "deflate" || name == "fletcher" || name == "unwritten";
    if (chunked && !dims.empty()) H5Pset_chunk(list, static_cast<int>(chunk.size()), chunk.data());
    if (name == "deflate") H5Pset_shuffle(list);
    if (name == "deflate") H5Pset_deflate(list, 1);
    if (name == "fletcher") H5Pset_fletcher32(list);
    if (name == "compact") H5Pset_layout(list, H5D_COMPACT);
    if (name == "outside") H5Pset_external(list, "/dev/zero", 0, std::max<hsize_t>(H5Tget_size(type) * 64, 1));
    if (name == "virtual" && !dims.empty()) {
      const Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
      H5Pset_virtual(list, space, "/dev/zero", "/x", space);
    }
    return list;
  }

  hid_t file_;
};

}  // namespace

void write_recipe(std::string_view recipe, const std::filesystem::path& path) {
  initialise_hdf5();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (file < 0) throw std::runtime_error(path.string() + ": cannot be created");
  Kitchen kitchen(file);
  std::istringstream lines{std::string(recipe)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    kitchen.follow(words);
  }
  H5Fclose(file);
}

}  // namespace assay::fuzz
