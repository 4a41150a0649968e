"""Learning-rate schedules against MXNet 1.9.1's values."""

import numpy as np
import pytest

from rarefy.lr_scheduler import (
    CosineScheduler,
    FactorScheduler,
    LRScheduler,
    MultiFactorScheduler,
    PolyScheduler,
)

# What MXNet 1.9.1 returns for 0 to 11 updates.
MXNET = [
    (
        lambda: FactorScheduler(3, 0.5, base_lr=1.0),
        [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125],
    ),
    (
        lambda: FactorScheduler(3, 0.1, stop_factor_lr=0.05, base_lr=1.0),
        [1, 1, 1, 1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05],
    ),
    (
        lambda: FactorScheduler(3, 0.5, base_lr=1.0, warmup_steps=4, warmup_begin_lr=0.2),
        [0.2, 0.4, 0.6, 0.8, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125],
    ),
    (
        lambda: FactorScheduler(3, 0.5, 1e-8, 1.0, 4, 0.2, "constant"),
        [0.2, 0.2, 0.2, 0.2, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125],
    ),
    (
        lambda: MultiFactorScheduler([2, 5], 0.1, base_lr=1.0),
        [1, 1, 1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01],
    ),
    (
        lambda: MultiFactorScheduler([2, 5], 0.1, base_lr=1.0, warmup_steps=3),
        [0, 0.33333333, 0.66666667, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01],
    ),
    (
        lambda: PolyScheduler(8, base_lr=1.0, pwr=2, final_lr=0.1),
        [1, 0.7890625, 0.60625, 0.4515625, 0.325, 0.2265625, 0.15625, 0.1140625] + 4 * [0.1],
    ),
    (
        lambda: PolyScheduler(8, 1.0, 1, final_lr=0.1, warmup_steps=3, warmup_begin_lr=0.1),
        [0.1, 0.4, 0.7, 1.0, 0.82, 0.64, 0.46, 0.28, 0.1, 0.1, 0.1, 0.1],
    ),
    (
        lambda: CosineScheduler(8, base_lr=1.0, final_lr=0.1),
        [1, 0.96574579, 0.86819805, 0.72220754, 0.55, 0.37779246, 0.23180195, 0.13425421]
        + 4 * [0.1],
    ),
    (
        lambda: CosineScheduler(8, base_lr=1.0, final_lr=0.1, warmup_steps=3),
        [0, 0.33333333, 0.66666667, 1, 0.91405765, 0.68905765, 0.41094235, 0.18594235] + 4 * [0.1],
    ),
]


@pytest.mark.parametrize(("make", "expected"), MXNET)
def test_rates_are_mxnets(make, expected):
    schedule = make()
    np.testing.assert_allclose([schedule(n) for n in range(12)], expected, rtol=1e-7)


@pytest.mark.parametrize(("make", "expected"), MXNET)
def test_rates_do_not_depend_on_earlier_calls(make, expected):
    schedule = make()
    schedule(11)
    np.testing.assert_allclose([schedule(n) for n in (7, 2, 9)], np.take(expected, (7, 2, 9)))


def test_base_lr_may_be_set_later_for_factor_schedules():
    schedule = MultiFactorScheduler([2, 5], 0.1, base_lr=1.0)
    schedule.base_lr = 2.0
    np.testing.assert_allclose([schedule(n) for n in range(7)], [2, 2, 2, 0.2, 0.2, 0.2, 0.02])


@pytest.mark.parametrize("kind", [CosineScheduler, PolyScheduler])
def test_curves_keep_the_base_lr_that_they_were_made_with(kind):
    schedule = kind(8, base_lr=1.0)
    schedule.base_lr = 2.0
    assert schedule(0) == 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: FactorScheduler(0),
        lambda: FactorScheduler(3, 2.0),
        lambda: FactorScheduler(3, warmup_steps=-1),
        lambda: FactorScheduler(3, warmup_steps=1.5),
        lambda: FactorScheduler(3, warmup_steps=2, warmup_begin_lr=5.0),
        lambda: FactorScheduler(3, warmup_steps=2, warmup_mode="x"),
        lambda: MultiFactorScheduler([]),
        lambda: MultiFactorScheduler([3, 2]),
        lambda: MultiFactorScheduler([0, 2]),
        lambda: MultiFactorScheduler([3], 2.0),
        lambda: PolyScheduler(0),
        lambda: PolyScheduler(2.5),
        lambda: CosineScheduler(0),
    ],
)
def test_bad_arguments_are_refused(make):
    with pytest.raises(ValueError):
        make()


def test_steps_must_be_a_list():
    with pytest.raises(TypeError, match="list"):
        MultiFactorScheduler(3)


def test_the_base_class_has_no_curve():
    with pytest.raises(NotImplementedError):
        LRScheduler()(0)
