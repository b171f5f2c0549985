#include "golden/hdf5_source.h"

#include <algorithm>
#include <utility>

#include "golden/hdf5_handle.h"
#include "golden/hdf5_open.h"

namespace assay {
namespace {

constexpr std::int64_t kMaxLinks = 1 << 20;

using Handle = Hdf5Handle;

bool is_float16(hid_t type) {
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_size = 0;
  std::size_t mantissa = 0;
  std::size_t mantissa_size = 0;
  return H5Tget_fields(type, &sign, &exponent, &exponent_size, &mantissa, &mantissa_size) >= 0 && sign == 15 && exponent == 10 &&
         exponent_size == 5 && mantissa == 0 && mantissa_size == 10 && H5Tget_ebias(type) == 15;
}

// The element type of a dataset, or an error that says what was found.
DType element_type(hid_t type, bool bfloat16) {
  if (H5Tequal(type, H5T_IEEE_F32LE) > 0) return DType::f32;
  if (H5Tequal(type, H5T_IEEE_F64LE) > 0) return DType::f64;
  if (H5Tequal(type, H5T_STD_I32LE) > 0) return DType::i32;
  if (H5Tequal(type, H5T_STD_I64LE) > 0) return DType::i64;
  if (H5Tequal(type, H5T_STD_U8LE) > 0) return DType::u8;
  if (H5Tequal(type, H5T_STD_U16LE) > 0 && bfloat16) return DType::bf16;
  if (H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 2 && H5Tget_order(type) == H5T_ORDER_LE && is_float16(type)) {
    return DType::f16;
  }
  throw Hdf5Error("element type is none of f32, f64, f16, bf16 (uint16 with dtype=\"bfloat16\"), i32, i64, u8, little-endian");
}

void check_layout(hid_t dataset) {
  const Handle plist(H5Dget_create_plist(dataset));
  if (H5Pget_layout(plist) == H5D_VIRTUAL) throw Hdf5Error("virtual layout is refused");
  if (H5Pget_layout(plist) == H5D_CONTIGUOUS && H5Pget_external_count(plist) != 0) throw Hdf5Error("external storage is refused");
  for (int i = 0; i < H5Pget_nfilters(plist); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    unsigned config = 0;
    const H5Z_filter_t filter = H5Pget_filter2(plist, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) {
      throw Hdf5Error("filter " + std::to_string(filter) + " is refused; expected deflate, shuffle or fletcher32");
    }
  }
}

std::vector<std::int64_t> dataspace_shape(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) throw Hdf5Error("null dataspace");
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > 8) throw Hdf5Error("rank " + std::to_string(rank) + "; expected at most 8");
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  hsize_t elements = 1;
  for (const hsize_t dim : dims) {
    if (dim != 0 && elements > kMaxDatasetElements / dim) throw Hdf5Error("dataset has more than 2^29 elements");
    elements *= dim;
  }
  return {dims.begin(), dims.end()};
}

// Bytes marked as blocks: the last axis is one block.
void gather_blocks(Array& bytes, const std::string& format) {
  const auto dtype = dtype_from_name(format);
  if (!dtype || !is_block(*dtype)) throw Hdf5Error("attribute 'dtype' is '" + format + "', no block format");
  const auto size = static_cast<std::int64_t>(dtype_size(*dtype));
  if (bytes.shape.empty() || bytes.shape.back() != size) {
    throw Hdf5Error("last axis is not a block of " + format + ": expected " + std::to_string(size) + " bytes");
  }
  bytes.dtype = *dtype;
  bytes.shape.pop_back();
}

ParamValue read_string(hid_t attribute, hid_t type) {
  const std::size_t size = H5Tget_size(type);
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    const Handle memory(H5Tcopy(H5T_C_S1));
    H5Tset_size(memory, H5T_VARIABLE);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (H5Aread(attribute, memory, &text) < 0 || text == nullptr) throw Hdf5Error("unreadable string");
    std::string out(text);
    H5free_memory(text);
    return out;
  }
  if (size > (1U << 20)) throw Hdf5Error("string attribute is larger than 1 MiB");
  std::string out(size, '\0');
  if (H5Aread(attribute, type, out.data()) < 0) throw Hdf5Error("unreadable string");
  out.resize(std::min(out.find('\0'), out.size()));
  return out;
}

ParamValue read_scalar(hid_t attribute, hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      return read_string(attribute, type);
    case H5T_INTEGER: {
      std::int64_t value = 0;
      // A uint64 seed keeps its bits.
      const bool is_unsigned = H5Tget_sign(type) == H5T_SGN_NONE;
      if (H5Aread(attribute, is_unsigned ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64, &value) < 0)
        throw Hdf5Error("unreadable integer");
      return value;
    }
    case H5T_FLOAT: {
      double value = 0;
      if (H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0) throw Hdf5Error("unreadable number");
      return value;
    }
    default:
      throw Hdf5Error("attribute is no integer, number or string");
  }
}

struct NameList {
  std::vector<std::string> names;

  // A name that would steer a terminal is none of a golden's or a trace's.
  bool take(const char* name) {
    names.emplace_back(name);
    return printable(names.back()) == names.back();
  }
};

herr_t collect_name(hid_t, const char* name, const H5L_info_t* info, void* data) {
  auto& list = *static_cast<NameList*>(data);
  if (info->type != H5L_TYPE_HARD || static_cast<std::int64_t>(list.names.size()) >= kMaxLinks) return -1;
  return list.take(name) ? 0 : -1;
}

herr_t collect_attribute(hid_t, const char* name, const H5A_info_t*, void* data) {
  return static_cast<NameList*>(data)->take(name) ? 0 : -1;
}

// Opens an object whose every path component is a hard link.
hid_t open_object(hid_t file, const std::string& object) {
  for (std::size_t slash = object.find('/', 1);; slash = object.find('/', slash + 1)) {
    const std::string part = object.substr(0, slash);
    if (part != "/") {
      H5L_info_t info;
      if (H5Lget_info(file, part.c_str(), &info, H5P_DEFAULT) < 0) throw Hdf5Error("there is no such object");
      if (info.type != H5L_TYPE_HARD) throw Hdf5Error("a soft or external link is refused");
    }
    if (slash == std::string::npos) break;
  }
  const hid_t id = H5Oopen(file, object.c_str(), H5P_DEFAULT);
  if (id < 0) throw Hdf5Error("cannot be opened");
  return id;
}

// Runs `body` and puts file and object before what it throws.
template <class Body>
auto located(const std::filesystem::path& path, const std::string& object, Body body) {
  try {
    return body();
  } catch (const Hdf5Error& error) {
    throw Hdf5Error(path.string() + ": " + object + ": " + error.what());
  }
}

class Hdf5Here final : public Hdf5Source {
 public:
  explicit Hdf5Here(const std::filesystem::path& path) : path_(path) {
    if (!std::filesystem::exists(path)) throw Hdf5Error(path.string() + ": there is no such file");
    file_ = open_hdf5(path);
    if (file_ < 0) throw Hdf5Error(path.string() + ": no HDF5 file, or a truncated one");
  }
  ~Hdf5Here() override { H5Fclose(file_); }

  bool exists(const std::string& object) override { return H5Lexists(file_, object.c_str(), H5P_DEFAULT) > 0; }
  bool is_group(const std::string& object) override;
  std::vector<std::string> children(const std::string& group) override;
  Attributes attributes(const std::string& object) override;
  std::vector<std::int64_t> integer_array(const std::string& object, const std::string& attribute) override;
  Array describe(const std::string& dataset) override;
  Array read(const std::string& dataset) override;

 private:
  std::filesystem::path path_;
  hid_t file_ = -1;
};

bool Hdf5Here::is_group(const std::string& object) {
  return located(path_, object, [&] { return H5Iget_type(Handle(open_object(file_, object))) == H5I_GROUP; });
}

std::vector<std::string> Hdf5Here::children(const std::string& group) {
  return located(path_, group, [&] {
    const Handle id(open_object(file_, group));
    NameList list;
    hsize_t position = 0;
    if (H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, &position, collect_name, &list) < 0) {
      throw Hdf5Error("no group, or one with soft or external links or control characters in names");
    }
    return list.names;
  });
}

Attributes Hdf5Here::attributes(const std::string& object) {
  return located(path_, object, [&] {
    const Handle id(open_object(file_, object));
    NameList list;
    hsize_t position = 0;
    if (H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, &position, collect_attribute, &list) < 0) {
      throw Hdf5Error("unreadable attributes, or control characters in their names");
    }
    Attributes out;
    for (const std::string& name : list.names) {
      const Handle attribute(H5Aopen(id, name.c_str(), H5P_DEFAULT));
      const Handle space(H5Aget_space(attribute));
      if (H5Sget_simple_extent_npoints(space) != 1) continue;
      out[name] = read_scalar(attribute, Handle(H5Aget_type(attribute)));
    }
    return out;
  });
}

std::vector<std::int64_t> Hdf5Here::integer_array(const std::string& object, const std::string& attribute) {
  return located(path_, object + "@" + attribute, [&] {
    const Handle id(open_object(file_, object));
    const Handle array(H5Aopen(id, attribute.c_str(), H5P_DEFAULT));
    if (array < 0) throw Hdf5Error("attribute is missing");
    const hssize_t count = H5Sget_simple_extent_npoints(Handle(H5Aget_space(array)));
    if (count < 0 || count > 64) throw Hdf5Error("expected at most 64 integers");
    std::vector<std::int64_t> out(static_cast<std::size_t>(count));
    if (count > 0 && H5Aread(array, H5T_NATIVE_INT64, out.data()) < 0) throw Hdf5Error("no array of integers");
    return out;
  });
}

Array Hdf5Here::describe(const std::string& dataset) {
  return located(path_, dataset, [&] {
    const Handle id(open_object(file_, dataset));
    if (H5Iget_type(id) != H5I_DATASET) throw Hdf5Error("expected a dataset");
    check_layout(id);
    const Attributes marks = attributes(dataset);
    const auto mark = marks.find("dtype");
    const auto* name = mark == marks.end() ? nullptr : std::get_if<std::string>(&mark->second);
    Array out;
    out.dtype = element_type(Handle(H5Dget_type(id)), name != nullptr && *name == "bfloat16");
    out.shape = dataspace_shape(Handle(H5Dget_space(id)));
    if (name != nullptr && out.dtype == DType::u8) gather_blocks(out, *name);
    return out;
  });
}

Array Hdf5Here::read(const std::string& dataset) {
  Array out = describe(dataset);
  return located(path_, dataset, [&] {
    const Handle id(open_object(file_, dataset));
    out.bytes.resize(static_cast<std::size_t>(out.elements()) * dtype_size(out.dtype));
    // The file's own type in memory: bytes come as they are stored.
    if (!out.bytes.empty() && H5Dread(id, Handle(H5Dget_type(id)), H5S_ALL, H5S_ALL, H5P_DEFAULT, out.bytes.data()) < 0) {
      throw Hdf5Error("data cannot be read; the file is truncated or damaged");
    }
    return std::move(out);
  });
}

}  // namespace

std::unique_ptr<Hdf5Source> open_hdf5_here(const std::filesystem::path& path) {
  return std::make_unique<Hdf5Here>(path);
}

}  // namespace assay
