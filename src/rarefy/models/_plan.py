"""What a training is going to do: found out from the data once, then kept in every checkpoint."""

import dataclasses
import math
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rarefy.io import LibSVMReader, LibSVMScan, scan_libsvm
from rarefy.io._parse import IndexBase
from rarefy.models._block_kinds import PairsSeen
from rarefy.models._columns import ColumnScaling, ColumnStats
from rarefy.models._header import NAMES, ModelHeader
from rarefy.models._model import unit_rows
from rarefy.models._problem import Problem, pose
from rarefy.models._scoring import labels_of
from rarefy.models._settings import Settings, settings

_LOOK_ROWS = 8192

# Of the label changes that rows in random order would have. Files sorted by label have nearly none.
_SORTED = 0.5


@dataclass(frozen=True)
class Reading:
    """How rows are read.

    Attributes:
      train: path of the training rows: a file or a folder.
      valid: path of the validation rows, or None.
      duplicates: 'error' or 'sum', for a column twice in a row.
      bad_lines: 'error' or 'skip'.
      weights: whether labels carry weights, as in `1:0.5`.
      window_mib: memory for rows that are kept or shuffled. It changes the order of shuffled rows.
    """

    train: str
    valid: str | None = None
    duplicates: str = "error"
    bad_lines: str = "error"
    weights: bool = False
    window_mib: int = 256

    def options(self) -> dict[str, Any]:
        """What the scan and the reader take alike."""
        return {
            "duplicates": self.duplicates,
            "bad_lines": self.bad_lines,
            "weights": self.weights,
            "labels": "required",
        }

    def scan(self) -> LibSVMScan:
        """Looks at all training rows.

        Raises:
          ValueError: there are no rows, or a line is bad.
          OSError: the file cannot be read.
        """
        for path in (self.train, self.valid):
            _refuse_stream(path)
        found = scan_libsvm(self.train, **self.options())
        if not found.rows:
            raise ValueError(f"{self.train}: there are no rows")
        return found

    def reader(self, width: int, index_base: int, batch_size: int) -> LibSVMReader:
        """Reads the training rows."""
        return LibSVMReader(
            self.train,
            batch_size=batch_size,
            n_features=width,
            index_base=cast(IndexBase, index_base),
            window_bytes=self.window_mib << 20,
            **self.options(),
        )

    def valid_reader(self, width: int, index_base: int) -> LibSVMReader | None:
        """Reads the validation rows."""
        if self.valid is None:
            return None
        return LibSVMReader(
            self.valid,
            batch_size=_LOOK_ROWS,
            n_features=width,
            index_base=cast(IndexBase, index_base),
            window_bytes=self.window_mib << 20,
            **self.options(),
        )


@dataclass(frozen=True)
class Plan:
    """All that a training needs to know before its first step.

    Attributes:
      header: of the model.
      settings: also in the header.
      reading: also in the header.
      problem: loss and classes.
      rows: number of training rows.
      fingerprint: of the text of the training rows.
      bias: `(outputs,)` float32, what the bias starts with.
      scaling: of the columns.
      counts: `(width,)` int64, rows that have each column; None if not needed.
    """

    header: ModelHeader
    settings: Settings
    reading: Reading
    problem: Problem
    rows: int
    fingerprint: str
    bias: np.ndarray
    scaling: ColumnScaling
    counts: np.ndarray | None = None

    @property
    def batches(self) -> int:
        """Steps in an epoch."""
        return math.ceil(self.rows / self.settings.batch_size)

    def prepare(self, x: Any) -> Any:
        """Rows as they are trained on: normalized, then scaled."""
        if self.settings.normalize == "l2":
            x = unit_rows(x)
        return self.scaling.apply(x)


@dataclass
class _Look:
    """What a pass over the rows finds out."""

    stats: ColumnStats
    rows: int = 0
    total: float = 0.0
    squares: float = 0.0
    changes: float = 0.0
    last: float = float("nan")

    def update(self, x: Any, labels: np.ndarray) -> None:
        y = labels.astype(np.float64)
        self.rows += len(y)
        self.total += float(y.sum())
        self.squares += float(y @ y)
        steps = np.diff(y, prepend=self.last)
        self.changes += float(np.count_nonzero(steps[~np.isnan(steps)]))
        self.last = float(y[-1])
        self.stats.update(x.data, x.indices, len(y))


def make_plan(
    reading: Reading,
    found: LibSVMScan,
    *,
    loss: str | None = None,
    width: int | None = None,
    index_base: int | None = None,
    users: int | None = None,
    items: int | None = None,
    **given: Any,
) -> tuple[Plan, LibSVMReader]:
    """Decides what is not given and looks at the columns.

    Args:
      reading: where the rows are.
      found: what `reading.scan()` returned.
      loss: 'squared', 'logistic' or 'softmax'; by default what the labels look like.
      width: number of columns; by default as many as occur.
      index_base: 0 or 1; by default 0 if index 0 occurs, else 1.
      users: for the model 'mf', how many columns are users; by default all before the first item.
      items: for 'mf', how many columns come after them; by default as many as occur.
      **given: settings; None and absent ones are chosen.

    Returns:
      The plan, and a reader of the training rows that has already kept them if they are few.

    Raises:
      ValueError: the labels do not fit the loss, columns do not fit width or base, or a setting is
        not as it must be.
    """
    reading = dataclasses.replace(
        reading,
        # A run goes on from wherever it is called.
        train=os.path.abspath(reading.train),
        valid=None if reading.valid is None else os.path.abspath(reading.valid),
    )
    problem = pose(found.labels, loss)
    model = given.get("model") or "linear"
    if model != "linear" and problem.loss == "softmax":
        raise ValueError(
            f"{NAMES[model]} has one score a row, and there are {problem.outputs} classes; take the "
            "linear model, or the loss squared"
        )
    base = found.index_base if index_base is None else index_base
    if base == 1 and found.min_index == 0:
        raise ValueError(
            f"{reading.train}: index 0 occurs, so the columns count from 0 and not from 1"
        )
    if model == "mf":
        users, width = _sides(reading, found, base, width, users, items)
    elif users is not None or items is not None:
        raise ValueError(f"users and items are of a matrix factorization; the model is {model}")
    columns = max(found.n_features(base), 1) if width is None else width
    _check_memory(columns, problem.outputs, given)
    reader = reading.reader(columns, base, _LOOK_ROWS)
    look = _Look(ColumnStats(columns))
    pairs = PairsSeen(reading.train, base, users) if model == "mf" else None
    for batch in reader.epoch():
        x: Any = batch.to_scipy()
        if pairs is not None:
            pairs.update(x, batch.first_row)
        look.update(unit_rows(x) if given.get("normalize") == "l2" else x, labels_of(batch))
    if look.rows != found.rows:
        raise ValueError(
            f"{reading.train}: {found.rows:,} rows at the first look and {look.rows:,} at the second; "
            "train when nobody writes to it any more"
        )
    scaling = ColumnScaling.none()
    if given.get("scaling") != "none" and model != "mf":
        scaling = ColumnScaling.fit(look.stats)
    if given.get("shuffle") is None:
        given["shuffle"] = _is_sorted(found, look)
    chosen = settings(found.rows, problem.loss, scaling.squared_norm(look.stats), **given)
    reader.batch_size = chosen.batch_size
    if problem.loss == "squared":
        problem = _standardized(problem, look)
    header = ModelHeader(
        kind=chosen.model,
        loss=problem.loss,
        width=columns,
        index_base=base,
        classes=problem.classes,
        factors=chosen.factors,
        hidden=chosen.layers,
        users=0 if pairs is None else pairs.users(),
        normalize=chosen.normalize,
        run=secrets.token_hex(8),
        settings=chosen.as_dict(),
        data={
            **dataclasses.asdict(reading),
            "rows": found.rows,
            "stored": found.nnz,
            "text_bytes": found.text_bytes,
        },
    )
    counts = look.stats.count if chosen.l2 else None
    bias = _first_bias(problem, found.labels)
    fingerprint = found.fingerprint or ""
    plan = Plan(header, chosen, reading, problem, look.rows, fingerprint, bias, scaling, counts)
    return plan, reader


def _sides(
    reading: Reading,
    found: LibSVMScan,
    base: int,
    width: int | None,
    users: int | None,
    items: int | None,
) -> tuple[int | None, int | None]:
    """How many columns are users, and how many there are; None where the rows have to tell."""
    if items is None:
        if width is not None and users is not None and users >= width:
            raise ValueError(f"{users} users leave no item among {width} columns")
        return users, width
    if users is None and width is None:
        seen = PairsSeen(reading.train, base)
        for batch in reading.reader(max(found.n_features(base), 1), base, _LOOK_ROWS).epoch():
            seen.update(cast(Any, batch.to_scipy()), batch.first_row)
        users = seen.users()
    elif users is None and width is not None:
        users = width - items
    assert users is not None
    if users < 1 or width not in (None, users + items):
        raise ValueError(f"{items} items and {max(users, 1)} or more users are not {width} columns")
    return users, users + items


def _refuse_stream(path: str | None) -> None:
    """Raises ValueError for what can be read only once, before anything waits for its writer."""
    if path is None:
        return
    mode = 0 if path == "-" else os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ValueError(
            f"{'standard input' if path == '-' else path}: training reads its rows several times, "
            "and a stream can be read once; save it to a file"
        )


def _check_memory(columns: int, outputs: int, given: Mapping[str, Any]) -> None:
    """Refuses a width whose tables do not fit into the machine, before it starts to swap.

    Raises:
      MemoryError: they do not.
    """
    factors = 0 if given.get("model") in (None, "linear") else given.get("factors") or 8
    # Weights, up to two states and the copies that a checkpoint takes, in float32; the statistics.
    needed = columns * (6 * 4 * (outputs + factors) + 24)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise MemoryError(
            f"{columns:,} columns with {outputs + factors} numbers each take about "
            f"{needed / 2**30:,.0f} GiB in training, and the machine has {memory / 2**30:,.0f}; "
            "hash or renumber the features, or check the largest index"
        )


def _is_sorted(found: LibSVMScan, look: _Look) -> bool:
    """Whether equal labels stand together, which ruins steps that see a batch at a time."""
    if found.labels is None or look.rows < 2:
        return False
    shares = np.array(list(found.labels.values())) / look.rows
    expected = (1.0 - float((shares**2).sum())) * (look.rows - 1)
    return look.changes < _SORTED * expected


def _standardized(problem: Problem, look: _Look) -> Problem:
    mean = look.total / look.rows
    spread = math.sqrt(max(look.squares / look.rows - mean**2, 0.0))
    return dataclasses.replace(problem, center=mean, scale=spread if spread > 0 else 1.0)


def _first_bias(problem: Problem, counts: Mapping[float, int] | None) -> np.ndarray:
    """The bias of a model that knows how frequent the classes are and nothing else."""
    if problem.classes is None or counts is None:
        return np.zeros(1, np.float32)
    n = np.array([counts[label] for label in problem.classes], np.float64)
    logs = np.log(n / n.sum())
    logs = logs if problem.loss == "softmax" else logs[1:] - logs[:1]
    return logs.astype(np.float32)
