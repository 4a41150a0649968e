"""Programs that record and go back compute what MXNet does."""

import numpy as np
import pytest

import rarefy as mx
from oracles.autograd import PROGRAMS, answers, plain

ANSWERS = answers()


def test_every_program_has_an_answer():
    assert set(PROGRAMS) == set(ANSWERS), "run tests/oracles/autograd.py with MXNet"
    assert not [name for name, answer in ANSWERS.items() if "raises" in answer]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    found = {key: plain(array) for key, array in PROGRAMS[name](mx).items()}
    for key, answer in ANSWERS[name].items():
        for part in ("stype", "shape"):
            assert found[key][part] == answer[part], key
        np.testing.assert_allclose(
            found[key]["values"], answer["values"], rtol=1e-5, atol=1e-6, err_msg=key
        )
    assert found.keys() == ANSWERS[name].keys()
