"""`rarefy inspect`: what is in a file, before anyone trains on it."""

import json
from typing import Any

import click

from rarefy.cli._errors import debug_option
from rarefy.cli._format import bytes_text, percent_text, plural, show_pairs
from rarefy.io import LibSVMScan, scan_libsvm
from rarefy.models import pose

DENSE_FROM = 1 / 3
"""With a larger share of elements that are not zero, indices cost more than zeros save."""

_REPORTED_LINES = 5
_ENDINGS = {
    "lf": "newline",
    "crlf": "carriage return and newline (Windows)",
    "mixed": "mixed: some with carriage return, some without",
    "none": "none",
}


@click.command()
@click.argument("file")
@click.option("--multilabel", is_flag=True, help="Labels are lists, as in 3,6,7 1:0.5.")
@click.option("--weights", is_flag=True, help="Labels carry weights, as in 1:0.5 3:1.")
@click.option(
    "--duplicates",
    type=click.Choice(["error", "sum"]),
    default="error",
    help="What a column twice in a row is: a bad line, or to be summed.  [error]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def inspect(file: str, multilabel: bool, weights: bool, duplicates: Any, as_json: bool) -> None:
    """Say what is in FILE (plain, .gz, .bz2, .xz, a folder, or - for standard input)."""
    found = scan_libsvm(
        file,
        labels="required" if weights else "auto",  # 1:0.5 could be a feature otherwise
        multilabel=multilabel,
        weights=weights,
        duplicates=duplicates,
        bad_lines="skip",
    )
    sizes = storage_sizes(found)
    if as_json:
        click.echo(json.dumps(_facts(found, sizes), indent=2))
        return
    show_pairs(_lines(found, sizes))


def storage_sizes(found: LibSVMScan) -> dict[str, int]:
    """Bytes that the rows take in each storage type, with float32 values.

    csr has 4- or 8-byte indices, whichever hold all counts; row_sparse stores the rows that have any
    element, whole, with 8-byte row numbers.
    """
    columns = found.n_features()
    index = 4 if max(columns, found.nnz, found.rows) < 2**31 else 8
    stored_rows = found.rows - _empty_rows(found)
    return {
        "csr": found.nnz * (4 + index) + (found.rows + 1) * index,
        "row_sparse": stored_rows * (4 * columns + 8),
        "dense": 4 * found.rows * columns,
    }


def _empty_rows(found: LibSVMScan) -> int:
    return sum(rows for low, high, rows in found.histogram if high == 0)


def advice(found: LibSVMScan, sizes: dict[str, int]) -> tuple[str, str]:
    """The storage type to choose, and why.

    Sparse storage pays below about a third of elements that are not zero; row_sparse where most rows
    are empty and the others full.
    """
    if not found.nnz:
        return "csr", "there is nothing to store"
    stored_rows = found.rows - _empty_rows(found)
    within = found.density * found.rows / stored_rows
    if found.density <= DENSE_FROM and within > DENSE_FROM:
        return "row_sparse", f"only {plural(stored_rows, 'row')} of {found.rows:,} are not empty"
    ratio = f"csr takes {percent_text(sizes['csr'] / sizes['dense'])} of dense"
    if found.density <= DENSE_FROM:
        return "csr", f"{percent_text(found.density)} of the elements are not zero; {ratio}"
    return "dense", f"{percent_text(found.density)} of the elements are not zero; {ratio}"


def _lines(found: LibSVMScan, sizes: dict[str, int]) -> list[tuple[str, str]]:
    low, mean, high = found.nnz_per_row
    storage, reason = advice(found, sizes)
    lines = [
        ("rows", f"{found.rows:,}"),
        ("columns", f"{found.n_features():,}{_columns_note(found)}"),
        ("stored", f"{found.nnz:,}" + (f", {found.zeros:,} of them zero" if found.zeros else "")),
        ("density", f"{percent_text(found.density)} not zero"),
        ("stored a row", f"{low:,} to {high:,}, {mean:.4g} on average\n{_histogram(found)}"),
        ("labels", _labels(found)),
    ]
    extras = [
        text
        for has, text in ((found.has_qid, "query ids (qid)"), (found.weights, "row weights"))
        if has
    ]
    if extras:
        lines.append(("besides", ", ".join(extras)))
    lines += [
        ("index base", _base(found)),
        ("line ends", _ENDINGS[found.line_ending]),
        ("bad lines", _bad_lines(found)),
        ("text", bytes_text(found.text_bytes)),
        ("in memory", ", ".join(f"{name} {bytes_text(size)}" for name, size in sizes.items())),
        ("choose", f"{storage}: {reason}"),
    ]
    if found.beyond_2_53:
        lines.append(("beware", f"{plural(found.beyond_2_53, 'value')} too large to be exact"))
    if found.inexact_float32:
        lines.append(
            ("beware", f"{plural(found.inexact_float32, 'whole number')} changed by float32; ids?")
        )
    return lines


def _columns_note(found: LibSVMScan) -> str:
    if found.min_index is None:
        return ""
    return f" (indices {found.min_index} to {found.max_index})"


def _base(found: LibSVMScan) -> str:
    if found.min_index == 0:
        return "0, as index 0 occurs"
    if found.min_index is None:
        return "1 (no index occurs)"
    return f"1, as index 0 does not occur (the smallest is {found.min_index})"


def _histogram(found: LibSVMScan) -> str:
    """Bars of the numbers of rows by stored elements."""
    most = max(rows for _, _, rows in found.histogram)
    lines = []
    for low, high, rows in found.histogram:
        if not rows:
            continue
        name = str(low) if low == high else f"{low}-{high}"
        lines.append(f"{name:>15} {'#' * max(1, round(30 * rows / most)):<30} {rows:,}")
    return "\n".join(lines)


def _labels(found: LibSVMScan) -> str:
    if not found.labelled:
        return "none"
    if found.label_range is None:
        return "none at all (the lists are empty)" if found.multilabel else "none"
    low, mean, high = found.label_range
    spread = f"{low:g} to {high:g}, {mean:.4g} on average"
    if found.labels is None:
        return f"more than 1,000 different, {spread}\n{_problem(found)}"
    if len(found.labels) > 12:
        return f"{len(found.labels)} different, {spread}\n{_problem(found)}"
    counts = (
        f"{label:g} ({count:,}, {percent_text(count / found.rows)})"
        for label, count in found.labels.items()
    )
    return ", ".join(counts) + f"\n{_problem(found)}"


def _problem(found: LibSVMScan) -> str:
    if found.multilabel:
        return "lists of labels: train takes one label a row"
    try:
        problem = pose(found.labels)
    except ValueError as error:
        return f"train would refuse: {error}"
    return f"train would take the loss {problem.loss}: {problem.reason}"


def _bad_lines(found: LibSVMScan) -> str:
    bad = found.bad_lines
    if not bad.count:
        return "none"
    shown = [str(report) for report in bad.reports[:_REPORTED_LINES]]
    if bad.count > len(shown):
        shown.append(f"and {bad.count - len(shown):,} more")
    return "\n".join([f"{bad.count:,}, left out of all counts here", *shown])


def _facts(found: LibSVMScan, sizes: dict[str, int]) -> dict[str, Any]:
    low, mean, high = found.nnz_per_row
    storage, reason = advice(found, sizes)
    labels = found.labels
    return {
        "rows": found.rows,
        "columns": found.n_features(),
        "min_index": found.min_index,
        "max_index": found.max_index,
        "index_base": found.index_base,
        "stored": found.nnz,
        "stored_zeros": found.zeros,
        "density": found.density,
        "stored_per_row": {"least": low, "mean": mean, "most": high},
        "histogram": [list(bar) for bar in found.histogram],
        "labelled": found.labelled,
        "labels": None if labels is None else [[label, n] for label, n in labels.items()],
        "label_range": None if found.label_range is None else list(found.label_range),
        "multilabel": found.multilabel,
        "qid": found.has_qid,
        "weights": found.weights,
        "line_ending": found.line_ending,
        "bad_lines": found.bad_lines.count,
        "first_bad_lines": [str(report) for report in found.bad_lines.reports],
        "text_bytes": found.text_bytes,
        "bytes": sizes,
        "choose": storage,
        "because": reason,
        "inexact_float32": found.inexact_float32,
        "beyond_2_53": found.beyond_2_53,
        "fingerprint": found.fingerprint,
    }
