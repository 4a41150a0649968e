// From an XLA element type to a C++ type.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/float16.h"
#include "xla/ffi/api/ffi.h"

namespace rarefy {

template <typename T>
T* Data(xla::ffi::AnyBuffer buffer) {
  return static_cast<T*>(buffer.untyped_data());
}

template <typename Buffer>
int64_t Count(const Buffer& buffer) {
  return static_cast<int64_t>(buffer.element_count());
}

// The elements of one row of an array whose first dimension counts rows; right without rows too.
inline int64_t RowSize(xla::ffi::AnyBuffer buffer) {
  int64_t size = 1;
  const auto dimensions = buffer.dimensions();
  for (size_t i = 1; i < dimensions.size(); ++i) size *= dimensions[i];
  return size;
}

inline xla::ffi::Error OutOfMemory() {
  return xla::ffi::Error(xla::ffi::ErrorCode::kResourceExhausted, "out of memory");
}

// Calls f(T()) with the value type of `type`: float, double, Half or BFloat16, whose sums are
// Accumulator<T>; an InvalidArgument error for any other type.
template <typename F>
xla::ffi::Error SwitchValue(xla::ffi::DataType type, const F& f) {
  switch (type) {
    case xla::ffi::F32:
      return f(float());
    case xla::ffi::F64:
      return f(double());
    case xla::ffi::F16:
      return f(Half());
    case xla::ffi::BF16:
      return f(BFloat16());
    default:
      return xla::ffi::Error::InvalidArgument(
          "values must be float32, float64, float16 or bfloat16");
  }
}

// Calls f(T()) with the value type of `type`: float, double, or, for 32 and 64-bit integers, the
// unsigned ones, whose sums may wrap around; an InvalidArgument error for any other type.
template <typename F>
xla::ffi::Error SwitchExact(xla::ffi::DataType type, const F& f) {
  switch (type) {
    case xla::ffi::F32:
      return f(float());
    case xla::ffi::F64:
      return f(double());
    case xla::ffi::S32:
      return f(uint32_t());
    case xla::ffi::S64:
      return f(uint64_t());
    default:
      return xla::ffi::Error::InvalidArgument("values must be float32, float64, int32 or int64");
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
