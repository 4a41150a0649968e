"""A slow LibSVM parser that follows docs/libsvm.md word by word and shares no code with rarefy."""

import re
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")
NONFINITE = re.compile(r"[+-]?(inf|infinity|nan)\Z", re.IGNORECASE)
INTEGER = re.compile(r"[+-]?\d+\Z")
MAX_INDEX = 2**63 - 2


class Bad(Exception):
    """A line that is no row: at which column the offending token begins."""

    def __init__(self, line: int, column: int):
        super().__init__(f"{line}:{column}")
        self.line, self.column = line, column


@dataclass
class Row:
    labels: list = field(default_factory=list)
    weight: float = 1.0
    qid: int | None = None
    entries: list = field(default_factory=list)


def parse(
    text: bytes,
    *,
    labelled=True,
    multilabel=False,
    weights=False,
    qid=False,
    base=0,
    width=None,
    dtype=np.float32,
    allow_nonfinite=False,
    sum_repeats=False,
    skip=False,
) -> tuple[list[Row], list[tuple[int, int]]]:
    """The rows of a text and the (line, column) of each bad line (or `Bad`, unless `skip`)."""
    rows, bad = [], []
    if text.startswith(b"\xef\xbb\xbf"):
        text = text[3:]
    options = {
        "labelled": labelled,
        "multilabel": multilabel,
        "weights": weights,
        "qid": qid,
        "base": base,
        "width": width,
        "dtype": np.dtype(dtype).type,
        "allow_nonfinite": allow_nonfinite,
        "sum_repeats": sum_repeats,
    }
    for number, line in enumerate(text.decode("latin-1").split("\n"), 1):
        try:
            row = parse_line(line, number, **options)
        except Bad as error:
            if not skip:
                raise
            bad.append((error.line, error.column))
        else:
            if row is not None:
                rows.append(row)
    return rows, bad


def tokens_of(line: str, number: int) -> list[tuple[int, str]]:
    """(column, token): carriage returns are blanks where only blanks and they follow."""
    body = line.split("#")[0]
    if "#" not in line:
        body = re.sub(r"[ \t\r]*\Z", "", body)
    found = []
    for match in re.finditer(r"[^ \t]+", body):
        # A control character ends a token and is one of its own.
        for piece in re.finditer(r"[^\x00-\x20]+|[\x00-\x20]", match.group()):
            found.append((match.start() + piece.start() + 1, piece.group()))
    return found


def parse_line(
    line, number, *, labelled, multilabel, weights, qid, base, width, dtype, allow_nonfinite,
    sum_repeats,
):  # fmt: skip
    tokens = tokens_of(line, number)
    if not tokens:
        return None
    row = Row()

    def value(token, column, finite):
        if NUMBER.match(token):
            result = nearest(token, dtype)
        elif NONFINITE.match(token):
            result = dtype(token)
        else:
            raise Bad(number, column)
        if finite and not np.isfinite(result):
            raise Bad(number, column)
        return result

    if labelled and not (multilabel and line[0] in " \t"):
        column, token = tokens.pop(0)
        label, colon, weight = token.partition(":")
        if colon and not weights:
            raise Bad(number, column)
        if multilabel:
            if not all(INTEGER.match(part) for part in label.split(",")):
                raise Bad(number, column)
            row.labels = sorted(map(int, label.split(",")))
            if len(set(row.labels)) < len(row.labels) or not within_int64(row.labels):
                raise Bad(number, column)
        else:
            row.labels = [value(label, column, not allow_nonfinite)]
        if colon:
            row.weight = value(weight, column, True)
    if qid:
        column, token = tokens.pop(0) if tokens else (None, "")
        if not token.startswith("qid:"):
            raise Bad(number, column)
        if not INTEGER.match(token[4:]) or not within_int64([int(token[4:])]):
            raise Bad(number, column)
        row.qid = int(token[4:])
    sums, last = {}, {}
    for column, token in tokens:
        index, colon, text = token.partition(":")
        if not colon or not index.isascii() or not re.match(r"\d+\Z", index):
            raise Bad(number, column)
        position = int(index) - base
        most = MAX_INDEX - base if width is None else width - 1
        if position < 0 or position > most or int(index) > MAX_INDEX:
            raise Bad(number, column)
        number_ = value(text, column, not allow_nonfinite)
        if position in sums and not sum_repeats:
            raise Bad(number, column)
        sums.setdefault(position, []).append(number_)
        last[position] = column
    for position in sorted(sums):
        values = sums[position]
        total = values[0]
        if len(values) > 1:
            with np.errstate(all="ignore"):
                total = dtype(sum((float(v) for v in values[1:]), float(values[0])))
            if not np.isfinite(total) and not allow_nonfinite:
                raise Bad(number, last[position])
        row.entries.append((position, total))
    return row


def within_int64(numbers) -> bool:
    return all(-(2**63) <= n < 2**63 for n in numbers)


def nearest(text: str, dtype):
    """The number of `dtype` nearest to a decimal, by exact arithmetic; ties go to even."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = mantissa.lstrip("+-")
    negative = mantissa.startswith("-")
    power = int(exponent or 0)
    if abs(power) > 5000 + len(digits):
        power = (5000 + len(digits)) * (1 if power > 0 else -1)
    whole, _, decimals = digits.partition(".")
    exact = Fraction(int(whole + decimals or "0")) * Fraction(10) ** (power - len(decimals))
    info = np.finfo(dtype)
    bits, least = info.nmant + 1, int(info.minexp)
    if exact == 0:
        return dtype(-0.0) if negative else dtype(0.0)
    # exact = m * 2**e with m of `bits` bits, or fewer for subnormal numbers
    e = exact.numerator.bit_length() - exact.denominator.bit_length() - bits
    while exact >= Fraction(2) ** (e + bits):
        e += 1
    while exact < Fraction(2) ** (e + bits - 1):
        e -= 1
    e = max(e, least - bits + 1)
    rounded = round(exact / Fraction(2) ** e)  # Python rounds halves to even
    if rounded * Fraction(2) ** e >= Fraction(2) ** int(info.maxexp):
        result = dtype(np.inf)
    else:
        result = dtype(np.ldexp(float(rounded), e))
    return -result if negative else result
