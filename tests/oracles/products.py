"""The products on csr buffers, entry by entry in float64."""

import numpy as np


def rows_of(indptr, nse):
    """The row of each entry, or -1 for an entry of no row."""
    rows = np.full(nse, -1)
    for row in range(len(indptr) - 1):
        rows[indptr[row] : indptr[row + 1]] = row
    return rows


def csr_dot_dense(data, indices, indptr, dense):
    out = np.zeros((len(indptr) - 1, *dense.shape[1:]))
    for e, row in enumerate(rows_of(indptr, len(data))):
        if row >= 0 and 0 <= indices[e] < len(dense):
            out[row] += np.float64(data[e]) * np.float64(dense[indices[e]])
    return out


def csr_t_dot_dense(data, indices, indptr, dense, *, n_cols):
    out = np.zeros((n_cols, *dense.shape[1:]))
    for e, row in enumerate(rows_of(indptr, len(data))):
        if row >= 0 and 0 <= indices[e] < n_cols:
            out[indices[e]] += np.float64(data[e]) * np.float64(dense[row])
    return out


def coo_dot_dense(data, indices, dense, *, n_rows, row_axis=0, in_order=False):
    out = np.zeros((n_rows, *dense.shape[1:]))
    for value, place in zip(data, indices, strict=True):
        row, column = place[row_axis], place[1 - row_axis]
        if 0 <= row < n_rows and 0 <= column < len(dense):
            out[row] += np.float64(value) * np.float64(dense[column])
    return out


def csr_sample_dot(indices, indptr, lhs, rhs):
    out = np.zeros(len(indices))
    for e, row in enumerate(rows_of(indptr, len(indices))):
        if row >= 0 and 0 <= indices[e] < len(rhs):
            out[e] = np.sum(np.float64(lhs[row]) * np.float64(rhs[indices[e]]))
    return out


def csr_t_dot_rows(data, indptr, order, starts, dense):
    out = np.zeros((len(starts) - 1, *dense.shape[1:]))
    rows = rows_of(indptr, len(data))
    for group in range(len(out)):
        for e in order[starts[group] : starts[group + 1]]:
            if 0 <= e < len(data) and rows[e] >= 0:
                out[group] += np.float64(data[e]) * np.float64(dense[rows[e]])
    return out


def groups_of(indices, indptr, n_cols):
    """Columns that have entries, and the entries by column: (columns, order, starts) in int32."""
    rows = rows_of(indptr, len(indices))
    real = [e for e in range(len(indices)) if rows[e] >= 0 and 0 <= indices[e] < n_cols]
    by_column = sorted(real, key=lambda e: indices[e])
    columns, counts = np.unique(np.array(indices)[by_column], return_counts=True)
    padding = sorted(set(range(len(indices))) - set(real))
    order = np.array([*by_column, *padding], np.int32)
    return columns, order, np.cumsum([0, *counts]).astype(np.int32)


def meetings(a_indices, a_indptr, b_indices, b_indptr, n_cols):
    """The entry of a, the entry of b, row and column of every pair that meets, one by one."""
    inner = rows_of(b_indptr, len(b_indices))
    for e, row in enumerate(rows_of(a_indptr, len(a_indices))):
        for f, k in enumerate(inner):
            if row >= 0 and k >= 0 and a_indices[e] == k and 0 <= b_indices[f] < n_cols:
                yield e, f, int(row), int(b_indices[f])


def csr_dot_csr_places(a_indices, a_indptr, b_indices, b_indptr, *, n_cols, nse):
    found = meetings(a_indices, a_indptr, b_indices, b_indptr, n_cols)
    places = sorted({(row, column) for _, _, row, column in found})
    indices = [c for _, c in places[:nse]] + [n_cols] * max(nse - len(places), 0)
    kept = [r for r, _ in places[:nse]]
    indptr = [sum(r < row for r in kept) for row in range(len(a_indptr))]
    sizes = [sum(r == row for r, _ in places) for row in range(len(a_indptr) - 1)]
    return np.asarray(indices), np.asarray(indptr), len(places), np.asarray(sizes)


def csr_dot_csr(first, second, *places, n_cols, wanted=2):
    a_indices, a_indptr, b_indices, b_indptr, c_indices, c_indptr = places
    rows = rows_of(c_indptr, len(c_indices))
    slot = {(int(r), int(c)): i for i, (r, c) in enumerate(zip(rows, c_indices, strict=True))}
    out = np.zeros([len(a_indices), len(b_indices), len(c_indices)][wanted])
    for e, f, row, column in meetings(a_indices, a_indptr, b_indices, b_indptr, n_cols):
        if (row, column) in slot:
            triple = (e, f, slot[row, column])
            left, right = (triple[r] for r in range(3) if r != wanted)
            out[triple[wanted]] += np.float64(first[left]) * np.float64(second[right])
    return out


def coordinates_of(indices, indptr, n_cols):
    """The cell of each entry, None for padding."""
    rows = rows_of(indptr, len(indices))
    pairs = zip(rows.tolist(), np.asarray(indices).tolist(), strict=True)
    return [(r, c) if r >= 0 and 0 <= c < n_cols else None for r, c in pairs]


def starts_of(rows, n_rows):
    return np.array([sum(r < row for r in rows) for row in range(n_rows + 1)])


def csr_to_coo(indices, indptr, *, n_cols):
    m, rows = len(indptr) - 1, rows_of(indptr, len(indices))
    out = [
        (m if r < 0 else r, c if r >= 0 and 0 <= c < n_cols else n_cols)
        for r, c in zip(rows, indices, strict=True)
    ]
    return np.array(out).reshape(-1, 2)


def coo_to_csr(indices, *, n_rows, n_cols, row_axis):
    rows, columns = indices[:, row_axis], indices[:, 1 - row_axis]
    real = (rows >= 0) & (rows < n_rows) & (columns >= 0) & (columns < n_cols)
    return np.where(real, columns, n_cols), starts_of(np.clip(rows, 0, n_rows), n_rows)


def csr_transpose(indices, indptr, *, n_cols):
    cells, m = coordinates_of(indices, indptr, n_cols), len(indptr) - 1
    real = sorted((e for e, cell in enumerate(cells) if cell), key=lambda e: cells[e][1])
    order = real + [e for e, cell in enumerate(cells) if not cell]
    rows = [cells[e][0] for e in real] + [m] * (len(cells) - len(real))
    return np.array(rows), starts_of([cells[e][1] for e in real], n_cols), np.array(order)


def csr_merge(a_indices, a_indptr, b_indices, b_indptr, *, n_cols, nse, both):
    a, b = coordinates_of(a_indices, a_indptr, n_cols), coordinates_of(b_indices, b_indptr, n_cols)
    places = sorted({*filter(None, a)} & {*filter(None, b)} if both else {*filter(None, a + b)})
    kept, spare = places[:nse], max(nse - len(places), 0)

    def entries_of(cells):
        found = [cells.index(c) if c in cells else len(cells) for c in kept]
        return np.array(found + [len(cells)] * spare)

    indices = np.array([c for _, c in kept] + [n_cols] * spare)
    indptr = starts_of([r for r, _ in kept], len(a_indptr) - 1)
    return indices, indptr, entries_of(a), entries_of(b), len(places)


def csr_matmul(a, b, *places_and_sizes, n_cols, nse, coordinates):
    places = places_and_sizes[:4]
    indices, indptr, count, _ = csr_dot_csr_places(*places, n_cols=n_cols, nse=nse)
    data = csr_dot_csr(a, b, *places, indices, indptr, n_cols=n_cols)
    return (
        data,
        csr_to_coo(indices, indptr, n_cols=n_cols) if coordinates else indices,
        indptr,
        count,
    )


def csr_combine(a, b, *places, n_cols, nse, product, drop_zeros):
    cells = [coordinates_of(*places[i : i + 2], n_cols) for i in (0, 2)]
    first, second = (
        {c: np.float64(x) for c, x in zip(at, values, strict=True) if c}
        for at, values in zip(cells, (a, b), strict=True)
    )
    if product:
        found = {c: first[c] * second[c] for c in first.keys() & second.keys()}
    else:
        found = {c: first.get(c, 0) + second.get(c, 0) for c in first.keys() | second.keys()}
    kept = sorted(c for c, x in found.items() if x != 0 or not drop_zeros)
    spare = max(nse - len(kept), 0)
    data = np.array([found[c] for c in kept[:nse]] + [0] * spare)
    indices = np.array([c for _, c in kept[:nse]] + [n_cols] * spare)
    return data, indices, starts_of([r for r, _ in kept[:nse]], len(places[1]) - 1), len(kept)


def csr_turn(data, indices, indptr, *, n_cols):
    rows, starts, order = csr_transpose(indices, indptr, n_cols=n_cols)
    return (
        np.where(np.arange(len(order)) < starts[-1], np.asarray(data)[order.astype(int)], 0),
        rows,
        starts,
    )


def csr_sum_rows(data, indices, indptr, *, n_cols):
    out = np.zeros(len(indptr) - 1)
    for cell, x in zip(coordinates_of(indices, indptr, n_cols), data, strict=True):
        if cell:
            out[cell[0]] += np.float64(x)
    return out


def dense_places(mat, *, nse, index_dtype):
    rows, columns = np.nonzero(mat)
    spare = [mat.shape[1]] * max(nse - len(rows), 0)
    return np.array([*columns[:nse], *spare]), starts_of(rows[:nse], mat.shape[0]), len(rows)
