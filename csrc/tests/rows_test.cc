// Tests of the row kernels for numbers of parts that a machine may not have threads for. Exit
// status 0 if all hold.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "kernels/csr_t_update.h"
#include "kernels/group_rows.h"
#include "kernels/random_uniform.h"
#include "kernels/rows_update.h"
#include "kernels/take_rows.h"
#include "tests/check.h"

namespace rarefy {
namespace {

// The first parts on threads of their own.
struct Threads {
  template <typename Body>
  void operator()(int64_t parts, const Body& body) const {
    std::vector<std::thread> threads;
    for (int64_t part = 0; part < std::min<int64_t>(parts, 3); ++part)
      threads.emplace_back([&body, part] { body(part); });
    for (int64_t part = 3; part < parts; ++part) body(part);
    for (std::thread& thread : threads) thread.join();
  }
};

template <typename Id>
struct Groups {
  std::vector<Id> rows;
  std::vector<int32_t> inverse, order, starts;
  int32_t count = -1;
  bool operator==(const Groups& other) const {
    return rows == other.rows && inverse == other.inverse && order == other.order &&
           starts == other.starts && count == other.count;
  }
};

template <typename Id>
Groups<Id> Grouped(const std::vector<Id>& ids, int64_t limit, int64_t n_rows, int64_t capacity,
                   int64_t parts) {
  const size_t nse = ids.size(), room = static_cast<size_t>(capacity);
  Groups<Id> g{std::vector<Id>(room), std::vector<int32_t>(nse), std::vector<int32_t>(nse),
               std::vector<int32_t>(room + 1)};
  Scratch scratch;
  const RowKeys<Id> keys{ids.data(), static_cast<uint64_t>(n_rows), g.rows.data()};
  CHECK(GroupRows(
      GroupRowsOperands<RowKeys<Id>>{keys, static_cast<int64_t>(nse), limit, capacity,
                                     g.inverse.data(), g.order.data(), g.starts.data(), &g.count},
      parts, scratch, Threads()));
  return g;
}

// The same by the library's sort.
template <typename Id>
Groups<Id> Expected(const std::vector<Id>& ids, int64_t limit, int64_t n_rows, int64_t capacity) {
  const size_t room = static_cast<size_t>(capacity);
  Groups<Id> g{std::vector<Id>(room, static_cast<Id>(n_rows)),
               std::vector<int32_t>(ids.size(), static_cast<int32_t>(capacity)),
               std::vector<int32_t>(ids.size()), std::vector<int32_t>(room + 1), 0};
  const auto key = [&](int32_t e) {
    const int64_t id = ids[static_cast<size_t>(e)];
    return e < limit && id >= 0 && id < n_rows ? id : n_rows;
  };
  for (size_t e = 0; e < ids.size(); ++e) g.order[e] = static_cast<int32_t>(e);
  std::stable_sort(g.order.begin(), g.order.end(),
                   [&](int32_t a, int32_t b) { return key(a) < key(b); });
  int64_t previous = -1;
  int32_t kept = 0;
  for (size_t j = 0; j < ids.size(); ++j) {
    const int32_t e = g.order[j];
    if (key(e) == n_rows) break;
    if (key(e) != previous) {
      previous = key(e);
      if (++g.count <= capacity)
        g.rows[static_cast<size_t>(g.count) - 1] = static_cast<Id>(previous);
    }
    if (g.count > capacity) continue;
    g.inverse[static_cast<size_t>(e)] = g.count - 1;
    kept = static_cast<int32_t>(j) + 1;
    g.starts[static_cast<size_t>(g.count)] = kept;
  }
  for (int64_t i = g.count + 1; i <= capacity; ++i) g.starts[static_cast<size_t>(i)] = kept;
  return g;
}

template <typename Id>
void GroupsDoNotDependOnParts(std::mt19937_64& random) {
  for (const int64_t n_rows : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{5000}, int64_t{1} << 30,
                               static_cast<int64_t>(std::numeric_limits<Id>::max())}) {
    for (const size_t nse : {0u, 1u, 2000u}) {
      std::vector<Id> ids(nse);
      for (Id& id : ids) {
        const uint64_t draw = random();
        id = static_cast<Id>(draw);  // mostly padding in wide types, some negative
        if (draw % 4 != 0) id = static_cast<Id>(draw % (static_cast<uint64_t>(n_rows) + 1));
        if (draw % 16 == 1 && nse > 0) id = ids[0];
      }
      for (const int64_t capacity : {int64_t{0}, int64_t{3}, static_cast<int64_t>(nse)}) {
        for (const int64_t limit : {static_cast<int64_t>(nse / 2) - 1, int64_t{99999}}) {
          const Groups<Id> expected = Expected(ids, limit, n_rows, capacity);
          for (const int64_t parts : {1, 2, 3, 40})
            CHECK(Grouped(ids, limit, n_rows, capacity, parts) == expected);
        }
      }
    }
  }
}

// Every split of the rows gives the same bits, and nothing outside the named rows is touched.
template <typename V>
void UpdatesDoNotDependOnParts(std::mt19937_64& random) {
  using A = Accumulator<V>;
  const A hyper[] = {A(0.1), A(0.01), A(0.5), A(1), A(0.9), A(0.99), A(1e-4)};
  const Adam<A> rule(hyper);
  for (const int64_t d : {1, 3, 8, 37}) {
    const int64_t n = 50, k = 20;
    std::vector<V> first(static_cast<size_t>(3 * n * d)), grad(static_cast<size_t>(k * d));
    for (V& x : first) x = Narrow<V>(static_cast<A>(random() % 1000) / A(1000));
    for (V& x : grad) x = Narrow<V>(static_cast<A>(random() % 1000) / A(500) - A(1));
    std::vector<int32_t> rows;
    for (int32_t i = 0; i < k; ++i) rows.push_back(i < 18 ? 2 * i + 1 : 50);
    std::vector<V> whole = first;
    for (const int64_t parts : {1, 2, 5, 20}) {
      std::vector<V> tables = first;
      V* t = tables.data();
      const RowsUpdateOperands<Adam<A>, V, int32_t> operands{
          {t, t + n * d, t + 2 * n * d}, rows.data(), grad.data(), n, k, d};
      Threads()(parts, [&](int64_t p) {
        RunBest<RowsUpdate<Adam<A>, V, int32_t>>(rule, operands, k * p / parts,
                                                 k * (p + 1) / parts);
      });
      if (parts == 1) whole = tables;
      CHECK(std::memcmp(whole.data(), t, tables.size() * sizeof(V)) == 0);
      for (int64_t r = 0; r < n; ++r) {
        const bool named = r % 2 == 1 && r < 36;
        for (int64_t table = 0; table < 3; ++table) {
          const size_t at = static_cast<size_t>((table * n + r) * d);
          const bool same =
              std::memcmp(&tables[at], &first[at], sizeof(V) * static_cast<size_t>(d)) == 0;
          CHECK(named || same);
        }
      }
    }
  }
}

// Any number of parts gives the same bits, close to a sum in double; rows that no entry names stay.
template <typename V, typename I>
void UpdatesByFactorsDoNotDependOnParts(std::mt19937_64& random) {
  const V hyper[] = {V(0.1), V(0), V(1), V(-1), V(0.5)};
  const SgdMom<V> rule(hyper);
  const auto draw = [&](int64_t below) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(below));
  };
  for (const int64_t n : {1, 9, 3000}) {
    for (const int64_t k : {1, 2, 3, 8}) {
      for (const int64_t m : {0, 1, 700}) {
        std::vector<I> indptr{0}, indices;
        std::vector<V> data, dense(static_cast<size_t>(m * k)),
            first(static_cast<size_t>(2 * n * k));
        for (int64_t r = 0; r < m; ++r) {
          for (int64_t e = draw(9); e > 0; --e) {
            indices.push_back(static_cast<I>(draw(3) == 0 ? n / 2 : draw(n + 4) - 2));
            data.push_back(static_cast<V>(draw(1000)) / V(500) - V(1));
          }
          indptr.push_back(static_cast<I>(indices.size()));
        }
        for (V& x : dense) x = static_cast<V>(draw(1000)) / V(500) - V(1);
        for (V& x : first) x = static_cast<V>(draw(1000)) / V(1000);
        const auto nse = static_cast<int64_t>(indices.size());
        std::vector<double> grad(static_cast<size_t>(n * k));
        std::vector<bool> named(static_cast<size_t>(n));
        for (int64_t r = 0; r < m; ++r) {
          for (auto e = static_cast<size_t>(indptr[static_cast<size_t>(r)]);
               e < static_cast<size_t>(indptr[static_cast<size_t>(r) + 1]); ++e) {
            if (indices[e] < 0 || indices[e] >= n) continue;
            named[static_cast<size_t>(indices[e])] = true;
            for (int64_t j = 0; j < k; ++j)
              grad[static_cast<size_t>(indices[e] * k + j)] +=
                  static_cast<double>(data[e]) * dense[static_cast<size_t>(r * k + j)];
          }
        }
        std::vector<V> whole;
        for (const int64_t parts : {1, 2, 5, 40}) {
          std::vector<V> tables = first;
          V* t = tables.data();
          const CsrTUpdateOperands<SgdMom<V>, V, I> operands{{t, t + n * k},
                                                             data.data(),
                                                             indices.data(),
                                                             indptr.data(),
                                                             dense.data(),
                                                             nse,
                                                             m,
                                                             n,
                                                             k};
          CsrTUpdate<SgdMom<V>, V, I> update(operands, rule, parts);
          Scratch records;
          CHECK(update.Run(records, Threads(), []() -> Scratch& {
            static thread_local Scratch mine;
            return mine;
          }));
          if (parts == 1) whole = tables;
          CHECK(tables == whole);
        }
        for (size_t at = 0; at < grad.size(); ++at) {
          const size_t state = at + grad.size();
          const double moved = 0.5 * first[state] - 0.1 * grad[at];
          const bool is_named = named[at / static_cast<size_t>(k)];
          CHECK(is_named || (whole[at] == first[at] && whole[state] == first[state]));
          CHECK(!is_named || std::abs(whole[state] - moved) < 1e-3);
          CHECK(!is_named || std::abs(whole[at] - (first[at] + moved)) < 1e-3);
        }
      }
    }
  }
}

// An indptr that decreases reaches no memory that is not there; what it makes of the rows is open.
void AnyIndptrStaysInBounds() {
  constexpr int64_t nse = 600, n = 7;
  const float hyper[] = {0.1f, 0.0f, 1.0f, -1.0f};
  const std::vector<float> data(nse, 1.0f);
  std::vector<int32_t> indices(nse);
  for (size_t e = 0; e < indices.size(); ++e) indices[e] = static_cast<int32_t>(e) % n;
  const std::vector<std::vector<int32_t>> broken{
      {0, nse, 0}, {0, 0, nse, 7, nse}, {nse, 0, 50}, {5, nse, 2, nse, -4}, {-9, 99, 1 << 30, 3}};
  for (const std::vector<int32_t>& indptr : broken) {
    for (const int64_t parts : {1, 2, 5}) {
      const auto m = static_cast<int64_t>(indptr.size()) - 1;
      const std::vector<float> dense(static_cast<size_t>(m), 1.0f);
      std::vector<float> table(n, 0.0f);
      const CsrTUpdateOperands<Sgd<float>, float, int32_t> operands{
          {table.data()}, data.data(), indices.data(), indptr.data(), dense.data(), nse, m, n, 1};
      CsrTUpdate<Sgd<float>, float, int32_t> update(operands, Sgd<float>(hyper), parts);
      Scratch records;
      CHECK(update.Run(records, Threads(), []() -> Scratch& {
        static thread_local Scratch mine;
        return mine;
      }));
      for (const float x : table) CHECK(std::isfinite(x));
    }
  }
}

// Rows of every width up to two vectors, at the very end of the table, read nothing beyond it.
void RowsOfAnyWidthAreTaken() {
  for (int64_t bytes = 2; bytes < 80; bytes += 2) {
    std::vector<char> table(static_cast<size_t>(3 * bytes));
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<char>(i + 1);
    const std::vector<int64_t> rows{2, 3, 0, -1};
    std::vector<char> out(static_cast<size_t>(4 * bytes), 'x');
    RunBest<TakeRows<int64_t, 0>>(static_cast<const char*>(table.data()), rows.data(), int64_t{3},
                                  bytes, int64_t{0}, int64_t{4}, out.data());
    const auto row = [&](const std::vector<char>& of, int64_t r) { return of.begin() + r * bytes; };
    CHECK(std::equal(row(out, 0), row(out, 1), row(table, 2)));
    CHECK(std::equal(row(out, 2), row(out, 3), row(table, 0)));
    CHECK(std::count(row(out, 1), row(out, 2), 0) == bytes);
    CHECK(std::count(row(out, 3), out.cend(), 0) == bytes);
  }
}

void NumbersDoNotDependOnParts() {
  constexpr int64_t size = 10 * kUniformChunk<float> + 5;
  std::vector<float> whole(size), split(size);
  const auto draw = [](int64_t begin, int64_t end, float* out) {
    RunBest<RandomUniform<float>>(1u, 2u, 0.0f, 1.0f, 1.0f, begin, end, out);
  };
  draw(0, size, whole.data());
  draw(3 * kUniformChunk<float>, size, split.data());
  draw(0, 3 * kUniformChunk<float>, split.data());
  CHECK(whole == split);
}

}  // namespace
}  // namespace rarefy

int main() {
  std::mt19937_64 random(7);
  rarefy::GroupsDoNotDependOnParts<int32_t>(random);
  rarefy::GroupsDoNotDependOnParts<int64_t>(random);
  rarefy::UpdatesDoNotDependOnParts<float>(random);
  rarefy::UpdatesDoNotDependOnParts<double>(random);
  rarefy::UpdatesDoNotDependOnParts<rarefy::Half>(random);
  rarefy::UpdatesDoNotDependOnParts<rarefy::BFloat16>(random);
  rarefy::UpdatesByFactorsDoNotDependOnParts<float, int32_t>(random);
  rarefy::UpdatesByFactorsDoNotDependOnParts<double, int64_t>(random);
  rarefy::AnyIndptrStaysInBounds();
  rarefy::RowsOfAnyWidthAreTaken();
  rarefy::NumbersDoNotDependOnParts();
  return 0;
}
