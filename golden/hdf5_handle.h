// What reader and writer share of the HDF5 C library. For golden/*.cc alone: it includes hdf5.h.
#pragma once

#include <hdf5.h>

#include <utility>

namespace assay {

// An HDF5 identifier of any kind; negative: none.
class Hdf5Handle {
 public:
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): stands for the C type
  hid_t release() { return std::exchange(id_, -1); }

 private:
  hid_t id_;
};

// IEEE binary16, little-endian: the library has no name for it. The caller's to close.
inline hid_t hdf5_half_type() {
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

// Before the first call into the library, any number of times.
inline void initialise_hdf5() {
  static const bool done = [] {
    H5dont_atexit();  // a file that the disk refused cannot be closed, and the library's clean-up at exit dies of it
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);  // no filter code from the file system
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace assay
