"""Random graphs of dense, csr and row_sparse arrays give what MXNet 1.9.1 gave.

Recorded by tests/oracles/mxnet_graphs.py.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import rarefy as mx

GRAPHS = json.loads((Path(__file__).parent / "mxnet_graphs.json").read_text())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("found", GRAPHS, ids=lambda found: f"seed{found['seed']}")
def test_results_storage_types_and_gradients(found):
    symbol = mx.sym.load_json(found["json"])
    assert symbol.tojson() == found["json"]
    given = {n: (stype, np.float32(values)) for n, (stype, values) in found["given"].items()}
    executor = symbol.simple_bind(
        mx.cpu(),
        grad_req={n: "null" if n == "c" else "write" for n in given},
        **{n: values.shape for n, (_, values) in given.items()},
    )
    for name, (stype, values) in given.items():
        assert executor.arg_dict[name].stype == stype
        mx.nd.array(values).tostype(stype).copyto(executor.arg_dict[name])
    outputs = executor.forward(is_train=True)
    executor.backward([mx.nd.array(np.float32(head)) for head in found["heads"]])
    plan = symbol.storage_plan()
    for output, (stype, values) in zip(outputs, found["outputs"], strict=True):
        assert output.stype == stype, plan
        np.testing.assert_allclose(output.asnumpy(), values, 1e-4, 1e-5, err_msg=plan)
    assert executor.compilations == 2
    for name, (stype, values) in found["gradients"].items():
        gradient = executor.grad_dict[name]
        assert gradient.stype == stype, plan
        np.testing.assert_allclose(
            gradient.asnumpy(), values, 1e-4, 1e-5, err_msg=f"{name}\n{plan}"
        )
