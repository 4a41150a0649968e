// Optimizer updates of some rows of a table, in place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/float16.h"
#include "kernels/simd.h"

// The iterations of the loop that follows touch no memory in common.
#if defined(__clang__)
#define RAREFY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define RAREFY_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace rarefy {

// Each rule holds its hyper-parameters, of the accumulator type A, and updates one element:
// Apply(g, w, s) with the gradient g, the weight w and the states s. kHyper is the length of the
// hyper-parameter array, whose first four are lr, wd, rescale_grad and clip_gradient (negative:
// none).

template <typename A>
struct CommonHyper {
  explicit CommonHyper(const A* h)
      : lr(h[0]), wd(h[1]), rescale(h[2]), bound(h[3] < A(0) ? A(INFINITY) : h[3]) {}
  RAREFY_INLINE A Clip(A g) const {
    return g > bound ? bound : (g < -bound ? -bound : g);
  }  // NaN stays
  A lr, wd, rescale, bound;
};

template <typename A>
struct Sgd : CommonHyper<A> {
  static constexpr int kStates = 0, kHyper = 4;
  explicit Sgd(const A* h) : CommonHyper<A>(h) {}
  RAREFY_INLINE void Apply(A g, A& w, A*) const {
    w = (A(1) - this->lr * this->wd) * w - this->lr * this->Clip(this->rescale * g);
  }
};

template <typename A>
struct SgdMom : CommonHyper<A> {
  static constexpr int kStates = 1, kHyper = 5;
  explicit SgdMom(const A* h) : CommonHyper<A>(h), momentum(h[4]) {}
  RAREFY_INLINE void Apply(A g, A& w, A* s) const {
    s[0] = momentum * s[0] - this->lr * this->wd * w - this->lr * this->Clip(this->rescale * g);
    w += s[0];
  }
  A momentum;
};

template <typename A>
struct Adam : CommonHyper<A> {
  static constexpr int kStates = 2, kHyper = 7;
  explicit Adam(const A* h) : CommonHyper<A>(h), beta1(h[4]), beta2(h[5]), epsilon(h[6]) {}
  RAREFY_INLINE void Apply(A g, A& w, A* s) const {
    g = this->Clip(this->rescale * g + this->wd * w);
    s[0] = beta1 * s[0] + (A(1) - beta1) * g;
    s[1] = beta2 * s[1] + (A(1) - beta2) * g * g;
    w -= this->lr * s[0] / (std::sqrt(s[1]) + epsilon);
  }
  A beta1, beta2, epsilon;
};

template <typename A>
struct AdaGrad : CommonHyper<A> {
  static constexpr int kStates = 1, kHyper = 5;
  explicit AdaGrad(const A* h) : CommonHyper<A>(h), epsilon(h[4]) {}
  RAREFY_INLINE void Apply(A g, A& w, A* s) const {
    g = this->Clip(this->rescale * g);
    s[0] += g * g;
    w -= this->lr * (g / std::sqrt(s[0] + epsilon) + this->wd * w);
  }
  A epsilon;
};

template <typename A>
struct Ftrl : CommonHyper<A> {
  static constexpr int kStates = 2, kHyper = 6;
  explicit Ftrl(const A* h) : CommonHyper<A>(h), lamda1(h[4]), beta(h[5]) {}
  RAREFY_INLINE void Apply(A g, A& w, A* s) const {
    g = this->Clip(this->rescale * g);
    const A n = s[1] + g * g;
    s[0] += g - (std::sqrt(n) - std::sqrt(s[1])) * w / this->lr;
    s[1] = n;
    const A shrunk = (s[0] > A(0) ? lamda1 : -lamda1) - s[0];
    w = std::abs(s[0]) > lamda1 ? shrunk / ((beta + std::sqrt(n)) / this->lr + this->wd) : A(0);
  }
  A lamda1, beta;
};

// The tables and the list of rows that an update works on.
//
//   tables  1 + Rule::kStates of (n, d), row-major: the weight and the states
//   rows    (k)     each row at most once; one outside [0, n) is padding and is skipped
//   grad    (k, d)  row-major
//
// No two of them may overlap.
template <typename Rule, typename V, typename I>
struct RowsUpdateOperands {
  V* tables[1 + Rule::kStates];
  const I* rows;
  const V* grad;
  int64_t n;
  int64_t k;
  int64_t d;
};

// Applies the rule to each of the rows [begin, end) of the list: one pass that reads and writes
// weight and states together.
//
// The rows lie apart in memory and each costs a TLB miss and a cache miss for each table, so they
// are fetched, for writing, some rows ahead.
//
// Cost O(rows * d). Rows are independent, so results do not depend on the split.
template <typename Rule, typename V, typename I>
struct RowsUpdate {
  static constexpr int kTables = 1 + Rule::kStates;
  // Cache lines under way at a time: about two rows of Adam at 128 floats. More gains nothing, as a
  // core has some 24 to 48 miss buffers (benchmarks/test_rows.py).
  static constexpr int64_t kLinesAhead = 48;

  static RAREFY_INLINE void Run(Rule rule, RowsUpdateOperands<Rule, V, I> a, int64_t begin,
                                int64_t end) {
    const int64_t row_bytes = a.d * static_cast<int64_t>(sizeof(V));
    const int64_t ahead =
        std::clamp<int64_t>(kLinesAhead / (kTables * (row_bytes / 64 + 1)), 1, 16);
    for (int64_t i = begin; i < std::min(begin + ahead, end); ++i) Fetch(a, i, row_bytes);
    for (int64_t i = begin; i < end; ++i) {
      if (i + ahead < end) Fetch(a, i + ahead, row_bytes);
      const int64_t r = static_cast<int64_t>(a.rows[i]);
      if (static_cast<uint64_t>(r) < static_cast<uint64_t>(a.n)) UpdateRow(rule, a, i, r);
    }
  }

  static RAREFY_INLINE void Fetch(const RowsUpdateOperands<Rule, V, I>& a, int64_t i,
                                  int64_t row_bytes) {
    const int64_t r = static_cast<int64_t>(a.rows[i]);
    if (static_cast<uint64_t>(r) >= static_cast<uint64_t>(a.n)) return;
    for (int t = 0; t < kTables; ++t) {
      const char* row = reinterpret_cast<const char*>(a.tables[t]) + r * row_bytes;
      for (int64_t line = 0; line < row_bytes; line += 64) __builtin_prefetch(row + line, 1);
      __builtin_prefetch(row + row_bytes - 1, 1);
    }
  }

  static RAREFY_INLINE void UpdateRow(const Rule& rule, const RowsUpdateOperands<Rule, V, I>& a,
                                      int64_t i, int64_t r) {
    using A = Accumulator<V>;
    V* table[kTables];
    for (int t = 0; t < kTables; ++t) table[t] = a.tables[t] + r * a.d;
    const V* grad = a.grad + i * a.d;
    RAREFY_INDEPENDENT
    for (int64_t j = 0; j < a.d; ++j) {
      A x[kTables + 1];  // one more than needed: s may not point past the end
      for (int t = 0; t < kTables; ++t) x[t] = Widen(table[t][j]);
      rule.Apply(Widen(grad[j]), x[0], x + 1);
      for (int t = 0; t < kTables; ++t) table[t][j] = Narrow<V>(x[t]);
    }
  }
};

}  // namespace rarefy
