"""What every optimizer shares: counts, learning rates, weight decay, storage types of states."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from rarefy._ops.defs.optimizer_update import copy_rows
from rarefy._ops.opdef import Operator
from rarefy._ops.precision import wide
from rarefy._ops.storage import SType, Value, stype_of
from rarefy._primitives.from_host import filled
from rarefy.nd._handle import Handle
from rarefy.nd._invoke import invoke
from rarefy.optimizer._fused import FusedUpdate
from rarefy.sparse import BCOO
from rarefy.sparse._check import is_concrete
from rarefy.sparse._row_sparse import row_sparse, row_sparse_rows

State = Any
"""What `create_state` returns: None, an array, or a (nested) tuple of arrays."""

Hyper = Mapping[str, Any]
"""The numbers of one update by name: Python floats, or scalars of a trace."""

T = TypeVar("T", bound=type)

_NARROW = (np.dtype("float16"), np.dtype(jnp.bfloat16))


class Optimizer:
    """Base of the optimizers; keeps MXNet's names.

    An optimizer of one's own overrides `create_state` and either `apply` (and `hyper`, where it has
    further numbers), which also serves compiled steps, or, as in MXNet, `update`.

    Args:
      rescale_grad: factor on gradients before anything else; often one over the batch size.
      param_idx2name: name of each parameter by index. Names that do not end in `_weight` or
        `_gamma` get no weight decay unless `set_wd_mult` says otherwise.
      wd: weight decay; what it means is each optimizer's own.
      clip_gradient: bound on the absolute value of each element of a gradient, after it is
        rescaled; None or 0 for none.
      learning_rate: 0.01 by default, or the scheduler's.
      lr_scheduler: gives the learning rate from the number of updates.
      sym: a symbol whose variables' `__lr_mult__` and `__wd_mult__` attributes are used.
      begin_num_update: number of updates that counting begins after.
      multi_precision: whether a weight of 16 bits is updated through a float32 copy of it.
      param_dict: parameters by index; their `lr_mult` and `wd_mult` are used.

    Attributes:
      num_update: the largest number of updates that any parameter has had.
      lr_mult, wd_mult: factors on learning rate and weight decay, by name or index.
      aggregate_num: how many parameters `Updater` hands to an `update` of one's own at once, as
        lists; 0: one after the other, not as lists. What the optimizers here update is not affected.
    """

    opt_registry: ClassVar[dict[str, type["Optimizer"]]] = {}

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: Mapping[Any, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: Any = None,
        sym: Any = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: Mapping[Any, Any] | None = None,
    ):
        if param_idx2name is not None and not isinstance(param_idx2name, Mapping):
            raise TypeError(
                f"param_idx2name must map indices to names; got {type(param_idx2name).__name__}"
            )
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        self.lr = learning_rate
        if lr_scheduler is None:
            self.lr = 0.01 if learning_rate is None else learning_rate
        elif learning_rate is not None:
            _set_base_lr(lr_scheduler, learning_rate)
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self.aggregate_num = 0
        self._all_index_update_counts: dict[Any, dict[Any, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.idx2name = dict(param_idx2name or {})
        self.param_dict = dict(param_dict or {})
        self.sym_info = (sym.attr_dict(), sym.list_arguments()) if sym is not None else ()
        self._fused: dict[bool, FusedUpdate] = {}
        self.lr_mult: dict[Any, float] = {}
        self.wd_mult: dict[Any, float] = {}
        self.set_lr_mult({})
        self.set_wd_mult({})

    @staticmethod
    def register(klass: T) -> T:
        """Registers a class under its name in lower case, for `create`; usable as a decorator."""
        name = klass.__name__.lower()
        if name in Optimizer.opt_registry:
            warnings.warn(f"optimizer {name!r} is registered again", stacklevel=2)
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> "Optimizer":
        """Makes an optimizer by its name, in any case.

        Raises:
          ValueError: there is no optimizer of this name.
        """
        try:
            klass = Optimizer.opt_registry[name.lower()]
        except KeyError:
            known = ", ".join(sorted(Optimizer.opt_registry))
            raise ValueError(f"there is no optimizer {name!r}; there are {known}") from None
        return klass(**kwargs)

    # Learning rate and weight decay.

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update, without factors of a parameter."""
        if self.lr_scheduler is not None:
            return self.lr_scheduler(self.num_update)
        assert self.lr is not None
        return self.lr

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate.

        Raises:
          UserWarning: a scheduler gives it.
        """
        if self.lr_scheduler is not None:
            raise UserWarning(
                "the learning rate is given by the scheduler; set lr_scheduler.base_lr, or make "
                "the optimizer without lr_scheduler"
            )
        self.lr = lr

    def set_lr_mult(self, args_lr_mult: Mapping[Any, float]) -> None:
        """Sets factors on the learning rate, by parameter name or index."""
        self.lr_mult = {**self._symbol_mult("__lr_mult__"), **args_lr_mult}

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """Sets factors on weight decay, by parameter name or index.

        A known name that does not end in `_weight` or `_gamma` has the factor 0 by default.
        """
        plain = {n: 0.0 for n in self.idx2name.values() if not n.endswith(("_weight", "_gamma"))}
        self.wd_mult = {**plain, **self._symbol_mult("__wd_mult__"), **args_wd_mult}

    def _symbol_mult(self, attribute: str) -> dict[str, float]:
        if not self.sym_info:
            return {}
        attributes, arguments = self.sym_info
        return {
            name: float(attributes[name][attribute])
            for name in arguments
            if attribute in attributes.get(name, {})
        }

    def set_lr_scale(self, args_lrscale: Any) -> None:
        """Not there any more.

        Raises:
          DeprecationWarning: always.
        """
        raise DeprecationWarning("set_lr_scale is gone; use set_lr_mult")

    def _get_lrs(self, indices: Sequence[Any]) -> list[float]:
        """The learning rate of each parameter now."""
        return [self._get_lr(i) for i in indices]

    def _get_lr(self, index: Any) -> float:
        """The learning rate of a parameter now."""
        return self._factor(index, "lr_mult", self.lr_mult) * self.learning_rate

    def _get_wds(self, indices: Sequence[Any]) -> list[float]:
        """The weight decay of each parameter."""
        return [self._get_wd(i) for i in indices]

    def _get_wd(self, index: Any) -> float:
        """The weight decay of a parameter."""
        return self._factor(index, "wd_mult", self.wd_mult) * self.wd

    def _factor(self, index: Any, attribute: str, factors: Mapping[Any, float]) -> float:
        if index in self.param_dict:
            return getattr(self.param_dict[index], attribute)
        if index in factors:
            return factors[index]
        return factors.get(self.idx2name.get(index), 1.0)

    def _set_current_context(self, device_id: Any) -> None:
        """Chooses the device whose updates are counted from now on."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    def _update_count(self, index: Any) -> None:
        """Counts an update of a parameter, or of each of a list."""
        counts = self._index_update_count
        for i in index if isinstance(index, list | tuple) else (index,):
            count = counts[i] = 1 + counts.get(i, self.begin_num_update)
            if count > self.num_update:
                self.num_update = count

    counted: tuple[str, ...] = ("num_update",)
    """Attributes that `hyper` moves on, beside the counts of each parameter."""

    def counts(self) -> tuple[list[Any], dict[Any, int]]:
        """How far the updates have come, for `set_counts`."""
        return [getattr(self, name) for name in self.counted], self._index_update_count.copy()

    def set_counts(self, counts: tuple[list[Any], dict[Any, int]]) -> None:
        """Goes back to what `counts` returned, where an update turned out to be none."""
        for name, value in zip(self.counted, counts[0], strict=True):
            setattr(self, name, value)
        self._index_update_count.clear()
        self._index_update_count.update(counts[1])

    # Updates.

    @property
    def updates_itself(self) -> bool:
        """Whether the class has an `update` of its own, as in MXNet, in place of an `apply`."""
        own = type(self)
        return (own.update, own.update_multi_precision) != (
            Optimizer.update,
            Optimizer.update_multi_precision,
        )

    def create_state(self, index: Any, weight: Handle) -> State:
        """Makes the state of a parameter: None, an array or a tuple of arrays. None here."""
        return None

    def create_state_multi_precision(self, index: Any, weight: Handle) -> State:
        """Makes the state of a parameter; for a weight of 16 bits with `multi_precision`, that of
        its float32 copy together with the copy."""
        if self._is_narrow(weight):
            copy = _wrap_copy(weight, jnp.float32)
            return self._join(copy, self.create_state(index, copy))
        if not self.multi_precision and np.dtype(weight._value.dtype) in _NARROW:
            warnings.warn(
                f"{type(self).__name__} updates a {weight._value.dtype} weight in its own "
                "precision, which loses small steps; consider multi_precision=True",
                stacklevel=2,
            )
        return self.create_state(index, weight)

    def hyper(self, index: Any) -> dict[str, float]:
        """Counts an update and returns its numbers: all that may change from step to step.

        Args:
          index: the parameter.

        Returns:
          Floats by name, as `apply` takes them.
        """
        self._update_count(index)
        clip = self.clip_gradient
        return {
            "lr": float(self._get_lr(index)),
            "wd": float(self._get_wd(index)),
            "rescale_grad": float(self.rescale_grad),
            "clip_gradient": float(clip) if clip else -1.0,
        }

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        """Updates a weight and its state in place with given numbers.

        Runs eagerly and in a trace. It counts nothing and reads nothing of the optimizer that may
        change from step to step.

        Args:
          index: the parameter.
          weight: the parameter's array.
          grad: its gradient.
          state: from `create_state`.
          hyper: from `hyper`; the numbers may be traced.
        """
        raise NotImplementedError(f"{type(self).__name__} has no compiled update (apply)")

    def update(self, index: Any, weight: Any, grad: Any, state: State) -> None:
        """Updates a parameter in place.

        Args:
          index: the parameter, or a list of them; then the rest are lists too.
          weight: its array, default or row_sparse.
          grad: its gradient, default or row_sparse. One without rows counts as an update too.
          state: from `create_state`.

        Raises:
          MXNetError: shapes or dtypes do not fit.
          TypeError: an array is csr.
          ValueError: a row_sparse weight does not store a row that the gradient has.
        """
        if isinstance(index, list | tuple):
            if not self.updates_itself:
                self._update_all(index, weight, grad, state, multi_precision=False)
            else:
                for one in zip(index, weight, grad, state, strict=True):
                    self.update(*one)
            return
        self._check_update(index, weight, grad)
        self.apply(index, weight, grad, state, self.hyper(index))

    def _check_update(self, index: Any, weight: Any, grad: Any) -> None:
        """Refuses arrays that no optimizer takes."""
        stypes = stype_of(weight._value), stype_of(grad._value)
        if "csr" in stypes:
            raise TypeError(
                f"parameter {index} is {stypes[0]} and its gradient {stypes[1]}; optimizers take "
                "default and row_sparse arrays. Convert with tostype('default')"
            )
        if stypes[0] == "row_sparse":
            _check_rows_stored(index, weight._value, grad._value)

    def _update_all(
        self, indices: Any, weights: Any, grads: Any, states: Any, *, multi_precision: bool
    ) -> None:
        """Updates several parameters: default ones in one program, the rest one by one."""
        update = self.update_multi_precision if multi_precision else self.update
        fused = self._fused.get(multi_precision)
        if fused is None:
            fused = self._fused[multi_precision] = FusedUpdate()
        together, rest = fused.divide(indices, weights, grads, states)
        if together:
            hyper = [self.hyper(one[0]) for one in together]
            fused(self.apply_multi_precision if multi_precision else self.apply, together, hyper)
        for one in rest:
            update(*one)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: State) -> None:
        """Updates a parameter, through the float32 copy in its state where there is one."""
        if isinstance(index, list | tuple):
            if not self.updates_itself:
                self._update_all(index, weight, grad, state, multi_precision=True)
            elif self.aggregate_num > 0 and not any(map(self._is_narrow, weight)):
                self.update(index, weight, grad, state)
            else:
                for one in zip(index, weight, grad, state, strict=True):
                    self.update_multi_precision(*one)
            return
        if not self._is_narrow(weight):
            self.update(index, weight, grad, state)
            return
        copy, inner = self._split(state)
        self.update(index, copy, grad, inner)
        self._copy_moved(weight, copy, grad)

    def apply_multi_precision(
        self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper
    ) -> None:
        """`apply`, through the float32 copy in the state where there is one.

        Args:
          state: from `create_state_multi_precision`.
          index, weight, grad, hyper: as for `apply`.
        """
        if not self._is_narrow(weight):
            self.apply(index, weight, grad, state, hyper)
            return
        copy, inner = self._split(state)
        self.apply(index, copy, grad, inner, hyper)
        self._copy_moved(weight, copy, grad)

    def _copy_moved(self, weight: Handle, copy: Handle, grad: Handle) -> None:
        lazy = bool(getattr(self, "lazy_update", False))
        invoke(copy_rows, [weight, copy, grad], {"lazy_update": lazy}, out=weight)

    def _is_narrow(self, weight: Handle) -> bool:
        return self.multi_precision and np.dtype(weight._value.dtype) in _NARROW

    def _join(self, copy: Handle, state: State) -> State:
        """The state of a weight that has a float32 copy; `_split` takes it apart."""
        return (copy, state)

    def _split(self, state: State) -> tuple[Handle, State]:
        return state

    # Checkpoints.

    def state_dict(self) -> dict[str, Any]:
        """The counts and the learning rate, as data for a checkpoint (JSON can hold it)."""
        return {
            "optimizer": type(self).__name__.lower(),
            "learning_rate": None if self.lr is None else float(self.lr),
            "begin_num_update": self.begin_num_update,
            "num_update": self.num_update,
            "update_counts": [[i, n] for i, n in self._index_update_count.items()],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Goes on from what `state_dict` returned.

        Raises:
          ValueError: it belongs to another kind of optimizer.
        """
        mine = type(self).__name__.lower()
        if saved["optimizer"] != mine:
            raise ValueError(
                f"the saved state is of optimizer {saved['optimizer']!r}, this is {mine!r}"
            )
        if saved["learning_rate"] is not None:
            self.lr = saved["learning_rate"]
            if self.lr_scheduler is not None:
                self.lr_scheduler.base_lr = self.lr
        self.begin_num_update = saved["begin_num_update"]
        self.num_update = saved["num_update"]
        self._index_update_count = dict(saved["update_counts"])
        self._all_index_update_counts = {0: self._index_update_count}

    def settings(self) -> dict[str, Any]:
        """The numbers and switches that it was made with, and the multipliers, as data that JSON can
        hold. Counts and learning rate are in `state_dict`."""
        plain = {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, bool | int | float | str | None)
            and not name.startswith("_")
            and name not in ("lr", "begin_num_update", "num_update", "lr_scheduler")
        }
        pairs = {name: list(getattr(self, name).items()) for name in ("lr_mult", "wd_mult")}
        return {"plain": plain, **pairs}

    def load_settings(self, saved: Mapping[str, Any]) -> None:
        """Takes over what `settings` returned, as far as this optimizer has such settings."""
        own = vars(self)
        own.update({k: v for k, v in saved.get("plain", {}).items() if k in own})
        for name in ("lr_mult", "wd_mult"):
            if name in saved:
                setattr(self, name, dict(saved[name]))
        self._fused = {}

    def __getstate__(self) -> dict[str, Any]:
        kept = {k: v for k, v in self.__dict__.items() if k not in ("param_dict", "_fused")}
        return kept

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self.param_dict = {}
        self._fused = {}


def _set_base_lr(scheduler: Any, learning_rate: float) -> None:
    if scheduler.base_lr != learning_rate:
        effect = (
            f"replaces the scheduler's base_lr={scheduler.base_lr}"
            if getattr(scheduler, "follows_base_lr", True)
            else f"has no effect on a {type(scheduler).__name__}; its own base_lr holds"
        )
        warnings.warn(f"learning_rate={learning_rate} {effect}", stacklevel=4)
    scheduler.base_lr = learning_rate


register = Optimizer.register
create = Optimizer.create_optimizer


def run_update(
    op: Operator,
    weight: Handle,
    grad: Handle,
    states: Sequence[Handle],
    hyper: Hyper,
    lazy_update: bool,
) -> None:
    """Runs an update operator in place."""
    invoke(op, [weight, grad, *states], {**hyper, "lazy_update": lazy_update}, out=weight)


def zeros_like(weight: Handle, stype: SType, shape: tuple[int, ...] | None = None) -> Handle:
    """A state of zeros of the weight's dtype, and of its shape unless another one is given.

    A row_sparse one stores no rows yet, but has as many slots as the weight, so that its first
    update, which fills them, replaces it in place like every later one.
    """
    value = weight._value
    shape = value.shape if shape is None else shape
    with wide():
        if stype == "row_sparse":
            assert isinstance(value, BCOO)
            rows = filled((value.nse,), value.shape[0], value.indices.dtype)
            data = filled((value.nse, *shape[1:]), 0, value.dtype)
            return Handle._wrap(row_sparse(data, rows, shape))
        return Handle._wrap(filled(shape, 0, value.dtype))


def _wrap_copy(weight: Handle, dtype: Any) -> Handle:
    with wide():
        return Handle._wrap(jax.tree.map(jnp.copy, weight._value.astype(dtype)))


def lacks_rows(weight: Value) -> bool:
    """Whether a concrete row_sparse weight does not store all its rows; waits for its indices."""
    if not isinstance(weight, BCOO):
        return False
    n = weight.shape[0]
    if weight.indices_sorted and weight.unique_indices:  # the last of n such rows tells
        return n > 0 and (weight.nse < n or int(np.asarray(weight.indices)[n - 1, 0]) != n - 1)
    return len(_stored_rows(weight)) < n


def missing_row(weight: BCOO, grad: BCOO) -> jax.Array:
    """The first row of a gradient that a weight does not store; the number of rows if there is none.

    Args:
      weight: row_sparse `(n, *d)`, rows ascending.
      grad: row_sparse of the same shape.

    Returns:
      A scalar of the index dtype of `grad`. Runs in a trace too.
    """
    n, have, rows = weight.shape[0], row_sparse_rows(weight), row_sparse_rows(grad)
    if not rows.shape[0]:
        return jnp.asarray(n, rows.dtype)
    found = jnp.zeros(rows.shape, bool)
    if have.shape[0]:
        place = jnp.minimum(jnp.searchsorted(have, rows.astype(have.dtype)), have.shape[0] - 1)
        found = have[place] == rows
    return jnp.where(found, jnp.asarray(n, rows.dtype), rows).min()


def refuse_row(name: Any, weight: BCOO, row: int) -> None:
    """Refuses a gradient's row that a row_sparse weight has no place for.

    Raises:
      ValueError: always.
    """
    n = weight.shape[0]
    raise ValueError(
        f"parameter {name} is row_sparse and stores {len(_stored_rows(weight))} of {n} rows; its "
        f"gradient has row {row}, which is not among them. Rows are never added to a weight: make it "
        "with all rows that training will touch, as nd.ones(shape).tostype('row_sparse') does"
    )


def _stored_rows(weight: BCOO) -> np.ndarray:
    rows = np.asarray(row_sparse_rows(weight))
    return rows[rows < weight.shape[0]]


def _check_rows_stored(index: Any, weight: Value, grad: Value) -> None:
    assert isinstance(weight, BCOO)
    if not all(map(is_concrete, (weight.indices, *jax.tree.leaves(grad)))):
        return
    if not lacks_rows(weight):
        return
    stored, n = _stored_rows(weight), weight.shape[0]
    rows = np.asarray(row_sparse_rows(grad)) if isinstance(grad, BCOO) else np.arange(n)
    missing = np.setdiff1d(rows[rows < n], stored)
    if len(missing):
        refuse_row(index, weight, int(missing[0]))
