"""Everything that JAX's sparse module has under a public name is here under the same one."""

import importlib
import unittest
from types import ModuleType

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.experimental import sparse as jsparse
from jax.extend.core import Primitive
from numpy.testing import assert_allclose, assert_array_equal

from cases.agreement import drawn
from rarefy import sparse
from rarefy.sparse import BCOO, BCSR, test_util, util
from rarefy.sparse import bcoo as bcoo_module
from rarefy.sparse import bcsr as bcsr_module

MODULES = (
    "ad",
    "api",
    "bcoo",
    "bcsr",
    "coo",
    "csr",
    "linalg",
    "random",
    "test_util",
    "transform",
    "util",
)


def public_names(module):
    """The names that a module defines, or is documented to hand on."""
    for name, value in vars(module).items():
        if name.startswith("_") or isinstance(value, ModuleType):
            continue
        if isinstance(value, Primitive) or getattr(value, "__module__", "") == module.__name__:
            yield name


def test_the_package_has_every_name():
    theirs = {n for n in dir(jsparse) if not n.startswith("_")}
    assert theirs <= set(dir(sparse))
    for kind in ("BCOO", "BCSR", "COO", "CSR", "CSC", "JAXSparse"):
        members = {n for n in dir(getattr(jsparse, kind)) if not n.startswith("_abc")}
        missing = members - set(dir(getattr(sparse, kind)))
        assert {m for m in missing if not m.startswith("__")} == set(), kind


@pytest.mark.parametrize("name", ["ad", "api", "bcoo", "bcsr", "coo", "csr", "random", "util"])
def test_each_submodule_has_every_name(name):
    theirs = importlib.import_module(f"jax.experimental.sparse.{name}")
    ours = importlib.import_module(f"rarefy.sparse.{name}")
    inner = {"Buffer", "flatten_fun_for_sparse_ad", "coo_spmm_p", "coo_spmv_p"}
    assert {n for n in public_names(theirs) if not hasattr(ours, n)} - inner == set()


@pytest.mark.parametrize("name", MODULES)
def test_each_submodule_can_be_imported(name):
    assert importlib.import_module(f"rarefy.sparse.{name}").__doc__


def test_warnings_and_errors_are_of_jaxs_kinds():
    for name in ("SparseEfficiencyError", "SparseEfficiencyWarning", "CuSparseEfficiencyWarning"):
        ours, theirs = getattr(sparse, name), getattr(jsparse, name)
        assert [c.__name__ for c in ours.__mro__] == [c.__name__ for c in theirs.__mro__]


def test_functions_on_buffers():
    x = drawn((2, 4, 5), 1, seed=1)
    info = util.SparseInfo(x.shape)
    dense = np.asarray(x.todense())
    assert_array_equal(bcoo_module._bcoo_todense(*x._bufs, spinfo=info), dense)
    found = bcoo_module._bcoo_extract(x.indices, dense)
    assert_array_equal(found, jsparse.bcoo._bcoo_extract(x.indices, jnp.asarray(dense)))
    data, indices = bcoo_module._bcoo_fromdense(dense, nse=20, n_batch=1)
    assert_array_equal(bcoo_module._bcoo_todense(data, indices, spinfo=info), dense)
    numbers = (((2,), (0,)), ((), ()))
    v = np.arange(5, dtype=np.float32)
    options = {"dimension_numbers": numbers, "preferred_element_type": None}
    out = bcoo_module._bcoo_dot_general(*x._bufs, v, lhs_spinfo=info, **options)
    assert_allclose(out, dense @ v)
    out = bcoo_module._bcoo_rdot_general(
        v, *x._bufs, dimension_numbers=(((0,), (2,)), ((), ())), rhs_spinfo=info
    )
    assert_allclose(out, np.einsum("k,abk->ab", v, dense))
    assert bcoo_module._validate_bcoo(*x._bufs, x.shape) == (1, 2, 0, x.nse)
    assert bcoo_module._bcoo_set_nse(x, x.nse + 3).nse == x.nse + 3
    assert_array_equal(bcoo_module._bcoo_set_nse(x, x.nse + 3).todense(), dense)
    rows = BCSR.fromdense(dense, n_batch=1)
    places = bcsr_module._bcsr_to_bcoo(rows.indices, rows.indptr, shape=rows.shape)
    columns, indptr = bcsr_module._bcoo_to_bcsr(places, shape=rows.shape, index_dtype=np.int32)
    assert_array_equal(indptr, rows.indptr)
    assert_array_equal(bcsr_module._bcsr_todense(*rows._bufs, spinfo=info), dense)
    assert columns.dtype == np.int32


def test_primitives_bind_differentiate_map_and_stay_in_the_jaxpr():
    x = drawn((4, 5), seed=2)
    info = util.SparseInfo(x.shape)

    def dense(data):
        return sparse.bcoo_todense_p.bind(data, x.indices, spinfo=info)

    assert_array_equal(dense(x.data), x.todense())
    assert "bcoo_todense" in str(jax.make_jaxpr(dense)(x.data))
    assert_allclose(jax.jacfwd(dense)(x.data), jax.jacrev(dense)(x.data))
    many = jnp.stack([x.data, 2 * x.data])
    assert_array_equal(jax.vmap(dense)(many), jnp.stack([x.todense(), 2 * x.todense()]))
    data, indices = jax.jit(lambda d: sparse.bcoo_sort_indices_p.bind(d, x.indices, spinfo=info))(
        x.data
    )
    assert_array_equal(BCOO((data, indices), shape=x.shape).todense(), x.todense())
    merged = sparse.bcoo_sum_duplicates_p.bind(*x._bufs, spinfo=info, nse=None)
    assert_array_equal(BCOO(merged, shape=x.shape).todense(), x.todense())
    tangents = jax.jvp(
        lambda d: sparse.bcoo_sort_indices_p.bind(d, x.indices, spinfo=info)[0],
        (x.data,),
        (x.data,),
    )
    assert_array_equal(*tangents)
    assert "todense" in str(jax.make_jaxpr(sparse.todense)(jnp.ones(3)))


def test_vmap_over_axes_of_one():
    f = util.nfold_vmap(lambda x, y: x * y, 2)
    assert_array_equal(
        f(jnp.ones((1, 3)), jnp.arange(6.0).reshape(2, 3)), np.arange(6).reshape(2, 3)
    )
    with pytest.raises(ValueError, match="mismatched"):
        f(jnp.ones((4, 3)), jnp.ones((2, 3)))
    assert int(util._count_stored_elements(jnp.eye(3)[None], n_batch=2)) == 1


class SuiteOfAUser(test_util.SparseTestCase):
    """A test as users of JAX write it."""

    def test_checks(self):
        draw = test_util.rand_bcoo(self.rng(), n_batch=1)

        def args_maker():
            return [draw((2, 3, 4), np.float32)]

        def total(x):
            return x.sum(2)

        self._CheckAgainstDense(total, total, args_maker, tol=1e-5)
        self._CheckGradsSparse(total, total, args_maker, atol=1e-5)
        self._CheckBatchingSparse(total, total, args_maker, tol=1e-5)
        with pytest.raises(AssertionError):
            self._CheckAgainstDense(lambda x: x.sum(2) + 1, total, args_maker)

    def test_draws(self):
        rows = test_util.rand_bcsr(self.rng())((3, 4), np.int32)
        assert rows.todense().shape == (3, 4)
        dense = test_util.rand_sparse(self.rng(), nse=0.25)((4, 4), np.float32)
        assert (dense != 0).sum() <= 4
        layouts = list(test_util.iter_sparse_layouts((2, 3)))
        assert len(layouts) == 6
        assert layouts[0] == test_util.SparseLayout(n_batch=0, n_dense=0, n_sparse=2)
        assert list(test_util.iter_bcsr_layouts((2, 3, 4)))[1].n_batch == 1
        assert list(test_util.iter_subsets([1, 2])) == [(), (1,), (2,), (1, 2)]


def test_the_test_case_is_one_of_unittest():
    assert issubclass(test_util.SparseTestCase, unittest.TestCase)
