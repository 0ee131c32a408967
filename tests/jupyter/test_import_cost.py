"""Importing the package and loading the extension cost next to nothing."""

import json
import os
import subprocess
import sys

import pytest

HEAVY = ("torch", "IPython", "matplotlib", "ipywidgets", "anywidget", "traitlets", "numpy", "sqlite3")


def python(code):
    """Run code in a fresh interpreter; return what it printed as JSON."""
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # as installed
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300, env=compiled
    )
    return json.loads(done.stdout)


def test_importing_the_package_loads_nothing_heavy():
    code = f"import torchmagic, sys, json; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    assert python(code) == []


def test_loading_the_extension_loads_neither_torch_nor_the_panel():
    code = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
before = set(sys.modules)
shell.run_line_magic("load_ext", "torchmagic")
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps(sorted(new & {"torch", "matplotlib", "ipywidgets", "anywidget", "jinja2", "numpy", "psutil"})))
"""
    assert python(code) == []


@pytest.mark.kernel
def test_loading_the_extension_takes_less_than_50_ms_beside_torch():
    code = """
import json, time, torch
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
began = time.perf_counter()
shell.run_line_magic("load_ext", "torchmagic")
print(json.dumps(time.perf_counter() - began))
"""
    # The least of several: other work on the machine can only add.
    assert any(python(code) < 0.050 for _ in range(5))
