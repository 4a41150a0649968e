#include "text/write.h"

#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>

namespace rarefy::text {
namespace {

// Text that grows by pieces of bounded length.
class TextBuilder {
 public:
  explicit TextBuilder(Buffer* buffer) : buffer_(buffer) {}

  void Append(std::string_view piece) {
    piece.copy(Room(piece.size()), piece.size());
    size_ += piece.size();
  }

  template <typename Number>
  void AppendNumber(Number number) {
    if constexpr (std::is_floating_point_v<Number>) {
      // The same characters in a quarter of the time; from 1e+05 on the other form is shorter.
      const auto whole = static_cast<int32_t>(std::fabs(number) < 100000 ? number : Number{0});
      if (static_cast<Number>(whole) == number && (whole != 0 || !std::signbit(number))) {
        return AppendNumber(whole);
      }
    }
    constexpr size_t kLongest = 32;  // a double takes at most 24 characters
    char* const first = Room(kLongest);
    size_ += static_cast<size_t>(std::to_chars(first, first + kLongest, number).ptr - first);
  }

  int64_t size() const { return static_cast<int64_t>(size_); }

 private:
  char* Room(size_t bytes) {
    constexpr size_t kStep = 1 << 16;
    if (static_cast<size_t>(buffer_->capacity()) < size_ + bytes) {
      buffer_->Reserve(static_cast<int64_t>(size_ + bytes + kStep));
    }
    return buffer_->As<char>() + size_;
  }

  Buffer* buffer_;
  size_t size_ = 0;
};

template <typename T>
T At(const Numbers& numbers, int64_t i) {
  return static_cast<const T*>(numbers.data)[i];
}

void AppendAt(const Numbers& numbers, int64_t i, int64_t base, TextBuilder* text) {
  switch (numbers.type) {
    case Numbers::Type::kNone:
      return;
    case Numbers::Type::kFloat32:
      return text->AppendNumber(At<float>(numbers, i));
    case Numbers::Type::kFloat64:
      return text->AppendNumber(At<double>(numbers, i));
    case Numbers::Type::kInt32:
      return text->AppendNumber(base + At<int32_t>(numbers, i));
    case Numbers::Type::kInt64:
      return text->AppendNumber(base + At<int64_t>(numbers, i));
  }
}

bool IsZero(const Numbers& numbers, int64_t i) {
  switch (numbers.type) {
    case Numbers::Type::kNone:
      return false;
    case Numbers::Type::kFloat32:
      return At<float>(numbers, i) == 0;
    case Numbers::Type::kFloat64:
      return At<double>(numbers, i) == 0;
    case Numbers::Type::kInt32:
      return At<int32_t>(numbers, i) == 0;
    case Numbers::Type::kInt64:
      return At<int64_t>(numbers, i) == 0;
  }
  return false;
}

bool Present(const Numbers& numbers) { return numbers.type != Numbers::Type::kNone; }

// Whatever stands before the features. Returns whether a blank must follow.
bool AppendHead(const WriteInput& input, int64_t row, TextBuilder* text) {
  if (input.label_indptr != nullptr) {
    const int64_t begin = input.label_indptr[row];
    for (int64_t i = begin; i < input.label_indptr[row + 1]; ++i) {
      if (i != begin) text->Append(",");
      AppendAt(input.label_ids, i, 0, text);
    }
  } else {
    AppendAt(input.labels, row, 0, text);
  }
  bool begun = input.label_indptr != nullptr || Present(input.labels);
  if (Present(input.weights)) {
    text->Append(":");
    AppendAt(input.weights, row, 0, text);
  }
  if (Present(input.qid)) {
    text->Append(begun ? " qid:" : "qid:");
    AppendAt(input.qid, row, 0, text);
    begun = true;
  }
  return begun;
}

}  // namespace

int64_t WriteRows(const WriteInput& input, int64_t first, int64_t last, Buffer* out) {
  TextBuilder text(out);
  for (int64_t row = first; row < last; ++row) {
    bool begun = AppendHead(input, row, &text);
    for (int64_t i = input.indptr[row]; i < input.indptr[row + 1]; ++i) {
      if (!input.keep_zeros && IsZero(input.data, i)) continue;
      if (begun) text.Append(" ");
      begun = true;
      AppendAt(input.indices, i, input.base, &text);
      text.Append(":");
      AppendAt(input.data, i, 0, &text);
    }
    text.Append("\n");
  }
  return text.size();
}

}  // namespace rarefy::text
