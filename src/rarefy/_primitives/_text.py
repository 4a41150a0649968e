"""The LibSVM text functions of the compiled module. Unlike `_ffi` this needs no jax.

`_ffi` and this file are the only importers of the compiled module.
"""

from rarefy._primitives import _native

_text = _native.text

ERROR_KINDS: tuple[str, ...] = _text.ERROR_KINDS
"""Names of what can be wrong with a line; a report has the position of its kind in here."""

PADDING: int = _text.PADDING
"""How many bytes after the last line of a text must be readable."""

MOST_LABELS: int = _text.MOST_LABELS
"""More distinct labels than this are not told apart by a scan."""

Format = _text.Format
Labels = _text.Labels
Plan = _text.Plan
Rows = _text.Rows
Scan = _text.Scan
count_newlines = _text.count_newlines
count_rows = _text.count_rows
find_form = _text.find_form
find_last_newline = _text.find_last_newline
find_newline = _text.find_newline
gather_segments = _text.gather_segments
permutation = _text.permutation
write_rows = _text.write_rows
