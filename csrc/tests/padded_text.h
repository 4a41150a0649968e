// Text as the parser wants it: with a newline at its end and readable bytes behind.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "text/number.h"

namespace rarefy::text {

// A copy in memory of exactly the size that the parser may touch, so that a sanitizer sees one byte
// more. What stands in the padding must not matter, so tests fill it with different things.
class PaddedText {
 public:
  explicit PaddedText(std::string_view text, char padding = '\0')
      : size_(static_cast<int64_t>(text.size())),
        bytes_(new char[text.size() + static_cast<size_t>(kPadding)]) {
    text.copy(bytes_.get(), text.size());
    for (int64_t i = 0; i < kPadding; ++i) bytes_[size_ + i] = padding;
    if (text.empty() || text.back() != '\n') bytes_[size_] = '\n';
  }
  const char* data() const { return bytes_.get(); }
  int64_t size() const { return size_; }

 private:
  int64_t size_;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace rarefy::text
