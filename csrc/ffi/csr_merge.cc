// XLA FFI entry of csr_merge.
#include "kernels/csr_merge.h"

#include <algorithm>
#include <limits>

#include "ffi/dispatch.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

ffi::Error CsrMergeHandler(ffi::AnyBuffer a_indices, ffi::AnyBuffer a_indptr,
                           ffi::AnyBuffer b_indices, ffi::AnyBuffer b_indptr,
                           ffi::Result<ffi::AnyBuffer> indices, ffi::Result<ffi::AnyBuffer> indptr,
                           ffi::ResultBuffer<ffi::S32> from_a, ffi::ResultBuffer<ffi::S32> from_b,
                           ffi::ResultBuffer<ffi::S32> count, int64_t n_cols, bool both) {
  const auto type = a_indices.element_type();
  const int64_t nse = Count(*indices), rows = Count(a_indptr) - 1;
  if (a_indptr.element_type() != type || b_indices.element_type() != type ||
      b_indptr.element_type() != type || indices->element_type() != type ||
      indptr->element_type() != type || rows < 0 || Count(b_indptr) != rows + 1 ||
      Count(*indptr) != rows + 1 || Count(*from_a) != nse || Count(*from_b) != nse)
    return ffi::Error::InvalidArgument("csr_merge: operands do not agree");
  return SwitchIndex(type, [&](auto index) {
    using I = decltype(index);
    const CsrPlaces<I> a{Data<I>(a_indices), Data<I>(a_indptr), rows, Count(a_indices)};
    const CsrPlaces<I> b{Data<I>(b_indices), Data<I>(b_indptr), rows, Count(b_indices)};
    const CsrMerged<I> out{Data<I>(*indices), Data<I>(*indptr), from_a->typed_data(),
                           from_b->typed_data(), nse};
    const int64_t places =
        both ? CsrMerge<true>(a, b, n_cols, out) : CsrMerge<false>(a, b, n_cols, out);
    *count->typed_data() =
        static_cast<int32_t>(std::min<int64_t>(places, std::numeric_limits<int32_t>::max()));
    return ffi::Error::Success();
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrMerge, CsrMergeHandler,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Attr<int64_t>("n_cols")
                                  .Attr<bool>("both"));
}  // namespace rarefy
