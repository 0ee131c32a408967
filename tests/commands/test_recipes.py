"""This file tests the recipes for notebooks in docs/ci.md, as they stand there, on one with a planted mistake."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.kernel
ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8").partition("\n## Notebooks\n")[2].partition("\n## ")[0]
COMMANDS = re.findall(r"```bash\n(.*?)\n```", SECTION)
CELL = """\
%%torchdebug --panel none --no-save --fail-on error
import torch
from torch import nn
net = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
inputs, targets = torch.randn(32, 8), torch.randint(0, 3, (32,))
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(inputs), targets).backward()
    optimizer.step()
"""


def test_the_recipes_are_those_of_the_tools():
    assert [command.split()[0] for command in COMMANDS] == ["papermill", "pytest", "jupyter"]
    compile(re.search(r"```python\n(.*?)```", SECTION, re.DOTALL)[1], "docs/ci.md", "exec")


@pytest.fixture
def elsewhere(tmp_path):
    """Return an environment in which kernels are of this Python, whatever is on PATH or set up for the user."""
    kernels = tmp_path / "jupyter" / "kernels"
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernels / "python3").mkdir(parents=True)
    spec = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (kernels / "python3" / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTER_PATH": str(kernels.parent),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "OMP_NUM_THREADS": "1",
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_a_notebook_with_a_finding_fails_and_says_why(command, tmp_path, elsewhere):
    tool, *words = command.removeprefix("jupyter ").split()  # jupyter itself would look for nbconvert on PATH
    pytest.importorskip({"pytest": "nbval"}.get(tool, tool))
    cells = [nbformat.v4.new_code_cell(source) for source in ("%load_ext torchmagic", CELL, "print('went on')")]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), tmp_path / "train.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", tool, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=elsewhere,
        timeout=300,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "cross_entropy gets probabilities from net.1" in done.stdout + done.stderr
    assert (tmp_path / "out.ipynb").exists() == (tool == "papermill")
