"""Programs that run a notebook stop where a person's Run All stops."""

import re
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.kernel


@pytest.fixture
def run_all(kernel_env, tmp_path, monkeypatch):
    for name, value in kernel_env.items():
        monkeypatch.setenv(name, value)

    def run(*cells):
        sources = ["%load_ext torchmagic", *cells, "print('went on')"]
        notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
        client = NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
        )
        client.km = client.create_kernel_manager()
        client.km.kernel_spec.argv[0] = sys.executable
        error = None
        try:
            client.execute()
        except CellExecutionError as raised:
            error = raised
        nbformat.validate(notebook)
        return error, [cell.outputs for cell in notebook.cells[1:]]

    return run


def test_an_error_stops_the_notebook_and_the_result_is_saved_after_it(run_all):
    error, (failed, after) = run_all("%%torchdebug\nx = 1\nraise ValueError('mine')")
    assert (error.ename, error.evalue) == ("ValueError", "mine")
    types = [output.output_type for output in failed]
    assert types == ["display_data", "error", "display_data"]
    assert "data-torchmagic-static" in failed[-1].data["text/html"]
    assert after == []


def test_a_wrong_option_stops_the_notebook_with_one_line(run_all):
    error, (failed, after) = run_all("%%torchdebug --levl basic\nprint('body')")
    assert error.ename == "UsageError"
    text = "".join(output.text for output in failed)
    assert re.fullmatch(r"UsageError: %%torchdebug: there is no option '--levl'; did you mean --level\?\n", text)
    assert after == []


def test_findings_stop_the_notebook_where_that_was_asked_for(run_all):
    error, (_, failed, after) = run_all(
        "import torch\nnet = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)",
        "%%torchdebug --fail-on error\nfor _ in range(6):\n"
        "    net(torch.ones(4, 2)).sum().backward()\n    optimizer.step()",
    )
    assert error.ename == "FindingsError"
    assert [output.output_type for output in failed] == ["display_data", "display_data", "error"]
    assert after == []
