// From an XLA element type to a C++ type.
#pragma once

#include <cstdint>
#include <string>

#include "xla/ffi/api/ffi.h"

namespace rarefy {

template <typename T>
T* Data(xla::ffi::AnyBuffer buffer) {
  return static_cast<T*>(buffer.untyped_data());
}

// Calls f(T()) with the value type of `type`; an InvalidArgument error for any other type.
template <typename F>
xla::ffi::Error SwitchValue(xla::ffi::DataType type, const F& f) {
  switch (type) {
    case xla::ffi::F32:
      return f(float());
    case xla::ffi::F64:
      return f(double());
    default:
      return xla::ffi::Error::InvalidArgument("values must be float32 or float64");
  }
}

// Calls f(T()) with the index type of `type`; an InvalidArgument error for any other type.
template <typename F>
xla::ffi::Error SwitchIndex(xla::ffi::DataType type, const F& f) {
  switch (type) {
    case xla::ffi::S32:
      return f(int32_t());
    case xla::ffi::S64:
      return f(int64_t());
    default:
      return xla::ffi::Error::InvalidArgument("indices must be int32 or int64");
  }
}

}  // namespace rarefy
