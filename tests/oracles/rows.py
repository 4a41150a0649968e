"""Grouping, gathering, summing and updating of rows, in plain loops of NumPy."""

import numpy as np


def group_rows(ids, limit, *, n_rows, capacity):
    """The distinct ids and where they are: `(rows, inverse, order, starts, count)`."""
    where = {}
    for e, i in enumerate(ids.tolist()):
        if e < limit and 0 <= i < n_rows:
            where.setdefault(i, []).append(e)
    distinct = sorted(where)
    kept = distinct[:capacity]
    rows = np.full(capacity, n_rows, ids.dtype)
    rows[: len(kept)] = kept
    inverse = np.full(len(ids), capacity, np.int32)
    starts = np.zeros(capacity + 1, np.int32)
    for at, i in enumerate(kept):
        inverse[where[i]] = at
        starts[at + 1 :] += len(where[i])
    grouped = [e for i in distinct for e in where[i]]
    padding = sorted(set(range(len(ids))) - set(grouped))
    return rows, inverse, np.array(grouped + padding, np.int32), starts, np.int32(len(distinct))


def group_cells(cells, *, n_rows, n_cols, capacity):
    """The distinct cells and where they are: `(cells, inverse, order, starts, count)`."""
    numbers = [
        r * n_cols + c if 0 <= r < n_rows and 0 <= c < n_cols else -1 for r, c in cells.tolist()
    ]
    numbers, n = np.array(numbers, object), n_rows * n_cols
    found, *rest = group_rows(numbers, len(cells), n_rows=n, capacity=capacity)
    pairs = [divmod(i, n_cols) if i < n else (n_rows, n_cols) for i in found.tolist()]
    return np.array(pairs, cells.dtype).reshape(-1, 2), *rest


def take_rows(table, rows):
    """`table[rows]`, zeros for a row that is not there."""
    out = np.zeros((len(rows), *table.shape[1:]), table.dtype)
    for i, r in enumerate(rows.tolist()):
        if 0 <= r < len(table):
            out[i] = table[r]
    return out


def segment_rows(order, starts, values):
    """The sum over each group, in float64."""
    out = np.zeros((len(starts) - 1, *values.shape[1:]), np.float64)
    for i in range(len(out)):
        for e in order[starts[i] : starts[i + 1]]:
            out[i] += values[e].astype(np.float64)
    return out


def rows_update(rule, tables, rows, grad, hyper):
    """The new tables in float64, element by element, as MXNet documents the optimizers."""
    lr, wd, rescale, clip, *rest = (float(h) for h in hyper)
    tables = [np.array(t, np.float64) for t in tables]

    def clipped(g):
        return g if clip < 0 else min(max(g, -clip), clip)

    for i, r in enumerate(rows.tolist()):
        if not 0 <= r < len(tables[0]):
            continue
        for at in np.ndindex(tables[0].shape[1:]):
            at = (r, *at)
            w, *s = (float(t[at]) for t in tables)
            g = rescale * float(grad[(i, *at[1:])])
            if rule == "sgd":
                new = (w - lr * (clipped(g) + wd * w),)
            elif rule == "sgd_mom":
                m = rest[0] * s[0] - lr * (clipped(g) + wd * w)
                new = (w + m, m)
            elif rule == "adam":
                beta1, beta2, epsilon = rest
                g = clipped(g + wd * w)
                m = beta1 * s[0] + (1 - beta1) * g
                v = beta2 * s[1] + (1 - beta2) * g**2
                new = (w - lr * m / (v**0.5 + epsilon), m, v)
            elif rule == "adagrad":
                h = s[0] + clipped(g) ** 2
                new = (w - lr * (clipped(g) / (h + rest[0]) ** 0.5 + wd * w), h)
            else:
                lamda1, beta = rest
                z, n, g = s[0], s[1], clipped(g)
                z += g - ((n + g**2) ** 0.5 - n**0.5) / lr * w
                n += g**2
                small = abs(z) <= lamda1
                w = 0.0 if small else (np.sign(z) * lamda1 - z) / ((beta + n**0.5) / lr + wd)
                new = (w, z, n)
            for table, value in zip(tables, new, strict=True):
                table[at] = value
    return tables


def csr_t_update(rule, tables, data, indices, indptr, dense, hyper):
    """The new tables in float64: the gradient is summed entry by entry, and its rows are moved."""
    n, grad = len(tables[0]), {}
    for r in range(len(indptr) - 1):
        for e in range(indptr[r], indptr[r + 1]):
            if 0 <= indices[e] < n:
                row = grad.setdefault(int(indices[e]), np.zeros(dense.shape[1:]))
                row += np.float64(data[e]) * dense[r].astype(np.float64)
    named = np.array(sorted(grad), np.int64)
    values = np.array([grad[i] for i in sorted(grad)]).reshape(len(named), *dense.shape[1:])
    return rows_update(rule, tables, named, values, hyper)
