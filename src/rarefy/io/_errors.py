"""What is wrong with an input, and where."""

import re
from dataclasses import dataclass

from rarefy._primitives._text import ERROR_KINDS
from rarefy.base import MXNetError

_EXPECTED = {
    "label_missing": "a label (an input without labels needs labels='none' or 'auto'; "
    "label:weight needs weights=True)",
    "label_unexpected": "a feature 'index:value', as the input has no labels",
    "label_junk": "a number as label",
    "label_list": "a single label (lists of labels need multilabel=True)",
    "label_list_junk": "integer labels with commas between, or a blank first for an empty list",
    "label_repeated": "every label once",
    "label_not_finite": "a finite label within the range of {dtype}",
    "weight_junk": "a number as weight behind the label's colon",
    "weight_not_finite": "a finite weight within the range of {dtype}",
    "qid_missing": "'qid:' and an integer, as in the first row",
    "qid_unexpected": "no 'qid:', as the first row has none",
    "qid_misplaced": "'qid:' once and before all features",
    "qid_junk": "an integer behind 'qid:'",
    "qid_beyond_int64": "a query id within 64 bits (-9223372036854775808 to 9223372036854775807)",
    "colon_missing": "a feature 'index:value'",
    "index_junk": "digits before the colon",
    "index_negative": "an index of {base} or more",
    "index_below_base": "an index of 1 or more, as the input counts its columns from 1",
    "index_beyond_width": "an index of at most {last}, as there are {width} columns counted from "
    "{base}",
    "index_beyond_int64": "an index of at most 9223372036854775806; larger ids, such as 64-bit "
    "hashes, must first be mapped (vocabulary) or hashed (modulo) to a smaller range",
    "index_beyond_int32": "an index of at most 2147483646",
    "index_repeated": "every column once a row (duplicates='sum' adds repeats up)",
    "value_missing": "a number right behind the colon",
    "value_junk": "a number behind the colon",
    "value_not_finite": "a finite value within the range of {dtype} (allow_nonfinite=True takes "
    "others)",
    "return_in_line": "a carriage return only at the end of a line",
}


class LibSVMError(MXNetError, ValueError):
    """A line, or a file, that is not as it must be; a ValueError, and what MXNet raises.

    Attributes:
      file: name of the file, `<stdin>` or the like for streams.
      line: number of the line in that file, from 1.
      column: number of the offending token's first byte in that line, from 1.
      found: the token, shortened where it is long.
      expected: what should have stood there.
      kind: which rule is broken, one word of `ERROR_KINDS`, `archive` or `encoding`.
      hint: what the input may be instead, `None` if nothing comes to mind.
    """

    def __init__(
        self,
        *,
        file: str,
        line: int,
        column: int,
        found: str,
        expected: str,
        kind: str,
        hint: str | None = None,
    ):
        self.file, self.line, self.column = file, line, column
        self.found, self.expected, self.kind, self.hint = found, expected, kind, hint
        text = f"{file}:{line}:{column}: found {found!r}, expected {expected}"
        super().__init__(f"{text}. {hint}" if hint else text)

    def __reduce__(self):
        return _rebuilt, (self.__dict__.copy(),)


def _rebuilt(fields: dict) -> LibSVMError:
    return LibSVMError(**fields)


@dataclass(frozen=True)
class BadLines:
    """The lines that were left out because `bad_lines="skip"` was asked for.

    Attributes:
      count: how many.
      reports: what is wrong with the first few.
    """

    count: int = 0
    reports: tuple[LibSVMError, ...] = ()


def expectation(kind: int, *, base: int, width: int, dtype: str) -> str:
    """What should have stood where the fault of this kind is; `width` is -1 if undeclared."""
    return _EXPECTED[ERROR_KINDS[kind]].format(
        base=base, width=width, last=base + width - 1, dtype=dtype
    )


def looks_like(line: str, first: bool) -> str | None:
    """What a line that is no LibSVM row may be instead, as a sentence; `None` if unclear.

    Args:
      line: the whole line.
      first: whether it is the first line of its file.
    """
    text = line.split("#")[0].strip() if not line.startswith("%%") else line.strip()
    tokens = text.split()
    number = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
    if first and text.startswith("%%MatrixMarket"):
        return "The file looks like a Matrix Market file."
    if text.lower().startswith(("@relation", "@attribute", "@data")):
        return "The file looks like an ARFF file."
    if text.startswith(("{", "[")):
        return "The file looks like JSON."
    if "|" in text:
        return "The file looks like Vowpal Wabbit's format."
    if any(re.fullmatch(rf"\w+:\w+:{number}", token) for token in tokens[1:]):
        return "The file looks like LibFFM's format, field:index:value."
    if text.count(",") >= 1 and ":" not in text:
        return "The file looks like comma-separated values (CSV); this reads label index:value ..."
    if "qid" in tokens:
        return "A query id is written 'qid:7', with a colon and no blank."
    if len(tokens) > 1 and all(re.fullmatch(number, token) for token in tokens):
        return (
            "The line looks like a plain table of numbers, or like indices without values; every "
            "feature needs both, as in 3:1."
        )
    if re.search(r"\d:(\s|$)", text):
        return "There must be no blank behind the colon."
    if "\r" in text:
        return "The file may have the line ends of old Macintoshes; change them to newlines."
    return None
