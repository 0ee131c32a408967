"""This file tests the manners of exporters: what they load, what they leave alone, and what they say when they fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torchmagic.exports.apart import fill_apart
from torchmagic.exports.catalogue import export
from torchmagic.exports.packages import needed

ROOM = Path(__file__).parents[2] / "torchmagic" / "exports"
WRITE = """
import sys
from torchmagic.exports.catalogue import EXPORTERS, export
from torchmagic.session.loading import load
run = load(sys.argv[1])
for form in sys.argv[3:]:
    export(run, f"{sys.argv[2]}/out-{form}", to=form)
print(*sorted({"torch", "psutil", "IPython", "mlflow", "wandb", "trackio"} & set(sys.modules)))
"""
CHILD = """
import sys
from torchmagic.exports.apart import serve
def fill(runs, folder):
    {deed}
serve(fill)
"""


def test_exporting_a_stored_run_needs_no_torch(run, tmp_path):
    run.save(tmp_path / "run.json")
    forms = ("html", "markdown", "text", "json", "csv", "report")
    command = [sys.executable, "-c", WRITE, tmp_path / "run.json", tmp_path, *forms]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    assert len(list(tmp_path.glob("out-*"))) == len(forms)


def test_a_missing_package_is_one_line_that_says_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r'needs the package pyarrow .*: pip install "torchmagic\[parquet\]"$'):
        export(run, tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r'needs the package nowhere: pip install "torchmagic\[x\]"'):
        fill_apart("m", [run], tmp_path, package="nowhere", extra="x", environment={})
    assert needed("json", extra="x").dumps([]) == "[]"


@pytest.fixture
def child(tmp_path, monkeypatch):
    """Return what writes a program of a deed and hands runs to it."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def handed(deed, runs, folder, **environment):
        (tmp_path / "deed_of_child.py").write_text(CHILD.format(deed=deed))
        fill_apart("deed_of_child", runs, folder, package="json", extra="x", environment=environment)

    return handed


def test_the_program_gets_the_runs_and_the_folder(child, runs, tmp_path):
    (tmp_path / "out").mkdir()
    child("(folder / 'names').write_text(repr([run.to_json() for run in runs]))", runs, tmp_path / "out")
    assert (tmp_path / "out" / "names").read_text() == repr([run.to_json() for run in runs])


@pytest.mark.parametrize(
    ("deed", "kind", "said"),
    [
        ("raise ValueError('two\\nlines')", ValueError, r"^json could not write the runs: ValueError: two lines$"),
        ("raise PermissionError(13, 'no')", OSError, r"^json could not write the runs: PermissionError: .*no$"),
        ("raise KeyError('k')", OSError, r"^json could not write the runs: KeyError: 'k'$"),
        ("import os; os._exit(3)", OSError, r"^json could not write the runs: it said nothing$"),
    ],
)
def test_a_failure_over_there_is_one_line_here(deed, kind, said, child, run, tmp_path):  # noqa: PLR0917 - fixtures
    with pytest.raises(kind, match=said):
        child(deed, [run], tmp_path)


def test_settings_that_name_a_server_stay_behind(child, run, tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_BASE_URL", "https://example.org")
    monkeypatch.setenv("TRACKIO_SPACE_ID", "a/b")
    monkeypatch.setenv("KEPT", "yes")
    child("import os; (folder / 'env').write_text(repr(dict(os.environ)))", [run], tmp_path, MINE="{scratch}/x")
    seen = eval((tmp_path / "env").read_text())  # noqa: S307 - what the line above wrote
    assert not {"WANDB_BASE_URL", "TRACKIO_SPACE_ID"} & set(seen)
    assert (seen["KEPT"], seen["DO_NOT_TRACK"], seen["HF_HUB_OFFLINE"]) == ("yes", "1", "1")
    assert not Path(seen["MINE"]).parent.exists()
    assert "WANDB_BASE_URL" in os.environ


def test_nothing_is_read_with_pickle():
    sources = [path.read_text() for path in ROOM.glob("*.py")]
    assert not [text for text in sources if "pickle" in text or "torch.load" in text or "import torch\n" in text]


@pytest.mark.parametrize("form", ["mlflow", "wandb", "tensorboard"])
def test_no_tracker_speaks_to_a_network(form, run, tmp_path):
    pytest.importorskip(form, exc_type=ImportError)
    strace = Path("/usr/bin/strace")
    if not strace.exists():
        pytest.skip("strace is not installed")
    run.save(tmp_path / "run.json")
    log = tmp_path / "calls"
    command = [strace, "-f", "-e", "trace=connect,sendto", "-o", log, sys.executable, "-c", WRITE]
    quiet = {name: value for name, value in os.environ.items() if name not in {"PYTEST_CURRENT_TEST", "CI"}}
    subprocess.run([*command, tmp_path / "run.json", tmp_path, form], check=True, capture_output=True, env=quiet)
    assert [line for line in log.read_text().splitlines() if "AF_INET" in line] == []
