// Optimizer updates of some rows of a table, in place.
#pragma once

#include <cmath>
#include <cstdint>

namespace rarefy {

// Each rule holds its hyper-parameters and updates one element: Apply(g, w, s) with the gradient g,
// the weight w and the states s. kHyper is the length of the hyper-parameter array, whose first
// four are lr, wd, rescale_grad and clip_gradient (negative: none).

template <typename A>
struct CommonHyper {
  explicit CommonHyper(const A* h)
      : lr(h[0]), wd(h[1]), rescale(h[2]), bound(h[3] < A(0) ? A(INFINITY) : h[3]) {}
  A Clip(A g) const { return g > bound ? bound : (g < -bound ? -bound : g); }  // NaN stays
  A lr, wd, rescale, bound;
};

template <typename A>
struct Sgd : CommonHyper<A> {
  static constexpr int kStates = 0, kHyper = 4;
  explicit Sgd(const A* h) : CommonHyper<A>(h) {}
  void Apply(A g, A& w, A*) const {
    w = (A(1) - this->lr * this->wd) * w - this->lr * this->Clip(this->rescale * g);
  }
};

template <typename A>
struct SgdMom : CommonHyper<A> {
  static constexpr int kStates = 1, kHyper = 5;
  explicit SgdMom(const A* h) : CommonHyper<A>(h), momentum(h[4]) {}
  void Apply(A g, A& w, A* s) const {
    s[0] = momentum * s[0] - this->lr * this->wd * w - this->lr * this->Clip(this->rescale * g);
    w += s[0];
  }
  A momentum;
};

template <typename A>
struct Adam : CommonHyper<A> {
  static constexpr int kStates = 2, kHyper = 7;
  explicit Adam(const A* h) : CommonHyper<A>(h), beta1(h[4]), beta2(h[5]), epsilon(h[6]) {}
  void Apply(A g, A& w, A* s) const {
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
  void Apply(A g, A& w, A* s) const {
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
  void Apply(A g, A& w, A* s) const {
    g = this->Clip(this->rescale * g);
    const A n = s[1] + g * g;
    s[0] += g - (std::sqrt(n) - std::sqrt(s[1])) * w / this->lr;
    s[1] = n;
    const A shrunk = (s[0] > A(0) ? lamda1 : -lamda1) - s[0];
    w = std::abs(s[0]) > lamda1 ? shrunk / ((beta + std::sqrt(n)) / this->lr + this->wd) : A(0);
  }
  A lamda1, beta;
};

// Updates rows [begin, end) of the list.
//
//   tables  1 + Rule::kStates pointers to (n, d) row-major: the weight and the states
//   rows    (k)     each row at most once; one outside [0, n) is padding and is skipped
//   grad    (k, d)  row-major; must not alias the tables
//
// Cost O(rows * d). Rows are independent, so results do not depend on the split.
template <typename Rule, typename Value, typename Accumulator, typename Index>
void RowsUpdate(const Rule& rule, Value* const* tables, const Index* rows, const Value* grad,
                int64_t n, int64_t d, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t r = rows[i];
    if (r < 0 || r >= n) continue;
    for (int64_t j = 0; j < d; ++j) {
      Accumulator w = static_cast<Accumulator>(tables[0][r * d + j]);
      Accumulator s[Rule::kStates + 1];
      for (int t = 0; t < Rule::kStates; ++t) {
        s[t] = static_cast<Accumulator>(tables[t + 1][r * d + j]);
      }
      rule.Apply(static_cast<Accumulator>(grad[i * d + j]), w, s);
      tables[0][r * d + j] = static_cast<Value>(w);
      for (int t = 0; t < Rule::kStates; ++t) {
        tables[t + 1][r * d + j] = static_cast<Value>(s[t]);
      }
    }
  }
}

}  // namespace rarefy
