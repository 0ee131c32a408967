"""A type checker sees torchmagic as its users do: installed, strictly, and with every signature of its public names."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import torchmagic

EXAMPLES = Path(__file__).parent / "examples"
ROOT = Path(__file__).parents[2]
FOR_IPYTHON = {"load_ipython_extension", "unload_ipython_extension"}


def test_scripts_of_users_are_checked_strictly(tmp_path):
    pytest.importorskip("mypy")
    cache = ROOT / ".mypy_cache"  # reading torch's types anew takes a minute; ``make check`` has read them
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", EXAMPLES]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues found" in done.stdout


def test_every_public_name_is_in_a_script():
    used = set()
    for path in EXAMPLES.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "torchmagic":
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torchmagic":
                used.add(node.attr)
    assert sorted(used - set(torchmagic.__all__)) == []
    assert sorted(set(torchmagic.__all__) - used) == sorted(FOR_IPYTHON)
