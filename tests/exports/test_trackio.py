"""This file tests trackio's project by reading it with trackio's own store, in a process that knows its folder."""

import json
import os
import subprocess
import sys

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.exports.names import folder_name
from torchmagic.exports.rows import rows

pytest.importorskip("trackio")
READ = """
import json, sys
from trackio.sqlite_storage import SQLiteStorage as store
names = store.get_runs("torchmagic")
told = {name: [store.get_logs("torchmagic", name), store.get_run_config("torchmagic", name)] for name in names}
print(json.dumps(told))
"""


def read(folder):
    environment = {**os.environ, "TRACKIO_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", READ], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_a_project_has_the_values_of_each_step_once(runs, named, tmp_path):
    folder = tmp_path / "out"
    export(runs, folder, to="trackio")
    export([runs[0], named("../../x")], folder, to="trackio")
    assert list(tmp_path.iterdir()) == [folder]
    found = read(folder)
    assert set(found) == {*map(folder_name, runs), "x-3f2a"}
    for run in runs:
        logs, config = found[folder_name(run)]
        assert (config["optimizer"], config["lr"]) == ("Adam", 0.01)
        expected = [(step, name, repr(value)) for step, values in rows(run) for name, value in values.items()]
        kept = [
            (each["step"], name, repr(float(value)))
            for each in logs
            for name, value in each.items()
            if name not in {"step", "timestamp"} and not name.startswith("result/")
        ]
        assert sorted(kept) == sorted(expected)


def test_hostile_names_stay_inside(harmful, named, tmp_path):
    listed = [named(word, run_id=f"id{number}") for number, word in enumerate(harmful)]
    export(listed, tmp_path / "out", to="trackio")
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]
    assert len(read(tmp_path / "out")) == len(listed)
