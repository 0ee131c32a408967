"""Without a notebook, in a terminal's IPython, the result is text and the exit status tells of an error."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.kernel


def ipython(code, env, folder):
    command = [sys.executable, "-m", "IPython", "--quick", "--colors=NoColor", "--ext=torchmagic", "-c", code]
    return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_the_result_is_text_after_the_traceback_and_the_exit_status_tells_of_the_error(kernel_env, tmp_path):
    done = ipython("%%torchdebug --name mine\nx = 1\n1 / 0", kernel_env, tmp_path)
    assert done.returncode == 1
    assert "----> 3 1 / 0" in done.stdout
    assert done.stdout.index("mine · error") > done.stdout.index("ZeroDivisionError")


def test_findings_fail_a_script_as_well(kernel_env, tmp_path):
    (tmp_path / "script.ipy").write_text(
        "import torch\nnet = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "get_ipython().run_cell_magic('torchdebug', '--panel none --fail-on error', '''\n"
        "for _ in range(6):\n    net(torch.ones(4, 2)).sum().backward()\n    optimizer.step()\n''')\n"
    )
    done = ipython("%run script.ipy", kernel_env, tmp_path)
    assert "FindingsError: error: " in done.stdout
