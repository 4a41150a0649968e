// What can be wrong with a line of LibSVM text.
#pragma once

#include <cstdint>

namespace rarefy::text {

// X(member, name in Python). Python words the messages; docs/libsvm.md has the grammar they mean.
#define RAREFY_TEXT_ERRORS(X)                                                                   \
  X(kNone, "none")                           /* nothing is wrong */                             \
  X(kLabelMissing, "label_missing")          /* a labelled row whose first token has a colon */ \
  X(kLabelUnexpected, "label_unexpected")    /* a bare number first in an unlabelled input */   \
  X(kLabelJunk, "label_junk")                /* the first token is not a number */              \
  X(kLabelList, "label_list")                /* `3,6,7` where one label was expected */         \
  X(kLabelListJunk, "label_list_junk")       /* a list of something else than integers */       \
  X(kLabelRepeated, "label_repeated")        /* a list that names a label twice */              \
  X(kLabelNotFinite, "label_not_finite")     /* nan, inf or too large for its type */           \
  X(kWeightJunk, "weight_junk")              /* no number after the colon of a label */         \
  X(kWeightNotFinite, "weight_not_finite")   /* nan, inf or too large for its type */           \
  X(kQidMissing, "qid_missing")              /* the first row has `qid:`, this one has not */   \
  X(kQidUnexpected, "qid_unexpected")        /* this row has `qid:`, the first one has not */   \
  X(kQidMisplaced, "qid_misplaced")          /* `qid:` twice, or after a feature */             \
  X(kQidJunk, "qid_junk")                    /* no integer after `qid:` */                      \
  X(kQidBeyondInt64, "qid_beyond_int64")     /* an integer that 64 bits do not hold */          \
  X(kColonMissing, "colon_missing")          /* a feature without a colon */                    \
  X(kIndexJunk, "index_junk")                /* something else than digits before the colon */  \
  X(kIndexNegative, "index_negative")        /* digits behind a minus sign before the colon */  \
  X(kIndexBelowBase, "index_below_base")     /* index 0 in an input counted from 1 */           \
  X(kIndexBeyondWidth, "index_beyond_width") /* a column that the declared width lacks */       \
  X(kIndexBeyondInt64, "index_beyond_int64") /* an index that 64 bits do not hold */            \
  X(kIndexBeyondInt32, "index_beyond_int32") /* no fault of the text: parse with 64 bits */     \
  X(kIndexRepeated, "index_repeated")        /* a column twice while repeats are refused */     \
  X(kValueMissing, "value_missing")          /* nothing between the colon and a blank */        \
  X(kValueJunk, "value_junk")                /* no number after the colon */                    \
  X(kValueNotFinite, "value_not_finite")     /* nan, inf or too large for its type */           \
  X(kReturnInLine, "return_in_line")         /* a carriage return that ends no line */

enum class ErrorKind : uint8_t {
#define RAREFY_MEMBER(member, name) member,
  RAREFY_TEXT_ERRORS(RAREFY_MEMBER)
#undef RAREFY_MEMBER
};

// One bad line: byte offsets from the start of the text that was handed in.
struct LineError {
  int64_t line = 0;       // where the line begins
  int64_t token = 0;      // where the offending token begins
  int64_t token_end = 0;  // one past the token's last byte
  ErrorKind kind = ErrorKind::kNone;
};

}  // namespace rarefy::text
