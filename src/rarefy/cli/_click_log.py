"""A click log with a known answer: rows drawn from a planted factorization machine."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from rarefy.metric import auc, binary_log_loss

N_COLUMNS = 1_000_000
RANK = 2


@dataclass(frozen=True)
class Field:
    """One categorical column of a log, which holds one of many ids in every row.

    Attributes:
      name: what the column would be in a real log.
      ids: how many different ids it has; each is a feature of its own.
      skew: ids are drawn as `ids * u ** skew` with `u` uniform: 1 makes all as frequent, 4 lets
        the first tenth of a percent of them take 18% of the rows.
      weight: standard deviation of the planted linear weights.
      factor: standard deviation of the entries of the planted factors; 0 for a column that takes no
        part in interactions.
    """

    name: str
    ids: int
    skew: float
    weight: float
    factor: float = 0.0


FIELDS = (
    Field("hour", 24, 1.0, 0.40),
    Field("weekday", 7, 1.0, 0.15),
    Field("position", 12, 2.0, 0.60),
    Field("device", 24, 2.0, 0.35, 0.75),
    Field("browser", 60, 3.0, 0.20),
    Field("country", 200, 3.0, 0.30),
    Field("site", 150, 2.0, 0.60, 0.75),
    Field("advertiser", 200, 2.0, 0.60, 0.75),
    Field("campaign", 8_000, 4.0, 0.30),
    Field("segment", 3_000, 4.0, 0.25),
    Field("page", 120_000, 5.0, 0.15),
    Field("user", 600_000, 4.0, 0.10),
)

# The other columns are words of the page: several in a row, with values like those of tf-idf.
WORDS = N_COLUMNS - sum(field.ids for field in FIELDS)
WORD_SKEW = 4.0
WORDS_A_ROW = (6, 26)
WORD_WEIGHT = 0.4
INTERCEPT = -2.2


@dataclass(frozen=True)
class ClickLog:
    """Rows of a click log.

    Attributes:
      x: `(rows, 1_000_000)` csr, float32, column ids sorted and unique in a row. A categorical
        feature has the value 1; the words of a row have positive values whose squares sum to 1.
      y: `(rows,)` float32, 0 or 1.
      p: `(rows,)` float64, the probability with which each label was drawn as 1.
    """

    x: csr_matrix
    y: np.ndarray
    p: np.ndarray

    def best(self) -> dict[str, float]:
        """Log loss and AUC of the true probabilities: what no model can be expected to beat."""
        return {"log_loss": binary_log_loss(self.y, self.p), "auc": auc(self.y, self.p)}


class PlantedModel:
    """A factorization machine over 1,000,000 features, from which click logs are drawn.

    The logit of a row is `b + x.w + sum over pairs i < j of <v_i, v_j> x_i x_j`. Only three of the
    categorical columns have factors, so the pairs that matter are few; a linear model sees none of
    them and stays clearly behind a factorization machine.

    Args:
      seed: the same seed gives the same model and the same rows.
    """

    def __init__(self, seed: int = 0):
        self._rng = np.random.default_rng(seed)
        starts = np.cumsum([0, *(field.ids for field in FIELDS)])
        scale = np.repeat(
            [*(field.weight for field in FIELDS), WORD_WEIGHT], [*(f.ids for f in FIELDS), WORDS]
        )
        self._starts = starts
        self._weight = self._rng.standard_normal(N_COLUMNS) * scale
        self._factors = {
            k: self._rng.standard_normal((field.ids, RANK)) * field.factor
            for k, field in enumerate(FIELDS)
            if field.factor
        }
        # Ids are scattered, so that the popular ones of a column do not stand side by side.
        self._scatter = [self._rng.permutation(f.ids).astype(np.int32) for f in FIELDS]
        self._word_of = self._rng.permutation(WORDS)
        self._rank_of = np.argsort(self._word_of)

    def draw(self, rows: int) -> ClickLog:
        """Draws the next `rows` rows. Cost: O(stored elements), 0.1 s for 10,000 rows."""
        rng = self._rng
        ids = np.empty((rows, len(FIELDS)), np.int32)
        for k, field in enumerate(FIELDS):
            rank = (field.ids * rng.random(rows) ** field.skew).astype(np.int32)
            ids[:, k] = self._scatter[k][rank]
        logit = INTERCEPT + self._interactions(ids)
        ids += self._starts[:-1].astype(np.int32)
        logit += self._weight[ids].sum(axis=1)

        word, owner, value = self._words(rows)
        logit += np.bincount(owner, self._weight[word] * value, rows)
        x = _csr_of(ids, word, owner, value)
        p = 1.0 / (1.0 + np.exp(-logit))
        y = (rng.random(rows) < p).astype(np.float32)
        return ClickLog(x, y, p)

    def _interactions(self, ids: np.ndarray) -> np.ndarray:
        """`0.5 * (|sum_i v_i|^2 - sum_i |v_i|^2)` over the fields that have factors."""
        picked = [factors[ids[:, k]] for k, factors in self._factors.items()]
        total = np.sum(picked, axis=0)
        return 0.5 * ((total**2).sum(axis=1) - sum((v**2).sum(axis=1) for v in picked))

    def _words(self, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Column, row and value of the words; a word is at most once in a row."""
        rng = self._rng
        count = rng.integers(WORDS_A_ROW[0], WORDS_A_ROW[1], rows, endpoint=True)
        owner = np.repeat(np.arange(rows, dtype=np.int64), count)
        rank = (WORDS * rng.random(len(owner)) ** WORD_SKEW).astype(np.int64)
        key = np.sort(owner * WORDS + self._word_of[rank])
        owner, word = np.divmod(key[np.diff(key, prepend=-1) != 0], WORDS)
        # Rare words weigh more, as their logarithmic inverse frequency does.
        value = np.log1p(self._rank_of[word]) * (0.5 + rng.random(len(word))) + 1.0
        value /= np.sqrt(np.bincount(owner, value**2, rows))[owner]
        # Four digits, as logs have them; the text of a file then brings back the same number.
        return word + self._starts[-1], owner, np.round(value, 4)


def _csr_of(ids: np.ndarray, word, owner, value) -> csr_matrix:
    """One csr out of the categorical columns and the words, which come after all of those."""
    rows, fields = ids.shape
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=rows) + fields)])
    category = (indptr[:-1, None] + np.arange(fields)).ravel()
    is_word = np.ones(indptr[-1], bool)
    is_word[category] = False
    indices = np.empty(indptr[-1], np.int32)
    data = np.ones(indptr[-1], np.float32)
    indices[category] = ids.ravel()
    indices[is_word] = word
    data[is_word] = value
    return csr_matrix((data, indices, indptr.astype(np.int32)), shape=(rows, N_COLUMNS))
