"""Arrays of the host on the device."""

import jax
import ml_dtypes
import numpy as np
import pytest

from rarefy._primitives.from_host import _OFTEN, SMALL, filled, from_host


def test_the_numbers_are_those_of_the_moment_of_the_call():
    """Also while a copy is under way, and where many arrays of a shape are made."""
    for size in (0, 1, 16, 1000, 1 << 16, SMALL + 1):
        for _ in range(_OFTEN + 3 if size == 1000 else 3):
            mine = np.arange(size, dtype=np.float32)
            taken = from_host(mine)
            mine[:] = -1
            np.testing.assert_array_equal(taken, np.arange(size, dtype=np.float32))


def test_shapes_and_types_stay():
    kinds = (bool, np.int8, np.uint32, np.float16, ml_dtypes.bfloat16, np.float32, np.complex64)
    for dtype in (*kinds, np.int64, np.float64):
        for shape in ((), (0, 3), (2, 3)):
            array = np.ones(shape, dtype)
            with jax.enable_x64(True):
                taken, made = from_host(array), filled(shape, 1, dtype)
            assert taken.dtype == made.dtype == dtype
            assert taken.shape == made.shape == shape
            np.testing.assert_array_equal(taken, array)
            np.testing.assert_array_equal(made, array)
    assert from_host(np.ones(2)).dtype == np.float32
    turned = np.arange(6).reshape(2, 3).T[::-1]
    np.testing.assert_array_equal(from_host(turned), turned)
    with pytest.raises(TypeError, match="holds no numbers"):
        from_host(np.array(["a"]))


def test_no_program_is_made_for_a_new_shape():
    made = []

    def listen(event, duration, **_):
        if event.endswith("backend_compile_duration"):
            made.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        for n in range(3001, 3021):
            jax.block_until_ready((from_host(np.ones(n)), filled((n,), 2, np.float32)))
        assert not made
        jax.block_until_ready(jax.numpy.ones(3001) + 1)
        assert made
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def test_the_memory_can_be_donated():
    """An update of an array that was just made happens in place."""
    add = jax.jit(lambda x: x + 1, donate_argnums=0)
    for n in range(1000, 1016):
        for array in (from_host(np.zeros(n, np.float32)), filled((n,), 0, np.float32)):
            before = array.unsafe_buffer_pointer()
            assert add(array).unsafe_buffer_pointer() == before


@pytest.mark.parametrize("value", [0, 3])
def test_large_arrays_of_one_value(value):
    made = filled((SMALL // 2, 3), value, np.int32)
    assert made.shape == (SMALL // 2, 3) and (np.asarray(made) == value).all()
