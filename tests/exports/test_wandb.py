"""This file tests the offline runs of Weights & Biases by reading their own records."""

import json
import struct

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.exports.rows import rows

pytestmark = pytest.mark.filterwarnings("ignore")
BLOCK, HEAD = 32768, 7


def contents(data):
    """Yield the records of a log in LevelDB's format: blocks, in them pieces with checksum, length and kind."""
    whole, place = b"", HEAD  # the file begins with W&B's own seven bytes
    while place + HEAD <= len(data):
        left = BLOCK - place % BLOCK
        if left < HEAD:
            place += left
            continue
        _, length, kind = struct.unpack("<IHB", data[place : place + HEAD])
        whole += data[place + HEAD : place + HEAD + length]
        place += HEAD + length
        if kind in (1, 4):  # a whole record, or the last piece of one
            yield whole
            whole = b""


@pytest.fixture(scope="module")
def folder(runs, tmp_path_factory):
    pytest.importorskip("wandb")
    parent = tmp_path_factory.mktemp("parent")
    export(runs, parent / "out", to="wandb")
    assert list(parent.iterdir()) == [parent / "out"]
    return parent / "out"


def records(folder, run_id):
    record = pytest.importorskip("wandb.proto.wandb_internal_pb2").Record
    (file,) = folder.glob(f"wandb/offline-run-*-{run_id}/run-{run_id}.wandb")
    return [record.FromString(each) for each in contents(file.read_bytes())]


def history(folder, run_id):
    found = {}
    for record in records(folder, run_id):
        if record.WhichOneof("record_type") == "history":
            items = {item.key or "/".join(item.nested_key): item.value_json for item in record.history.item}
            found[int(json.loads(items["_step"]))] = {
                name: float(json.loads(value)) for name, value in items.items() if not name.startswith("_")
            }
    return found


def test_history_is_the_values_of_each_step(folder, runs):
    for run in runs:
        expected = {step: {name: repr(value) for name, value in values.items()} for step, values in rows(run)}
        found = history(folder, run.id)
        assert {step: {name: repr(v) for name, v in values.items()} for step, values in found.items()} == expected


def test_the_run_has_its_name_and_settings(folder, run):
    (written,) = [each.run for each in records(folder, run.id) if each.WhichOneof("record_type") == "run"][:1]
    config = {item.key: json.loads(item.value_json) for item in written.config.update}
    assert (written.display_name, written.project) == (run.name, "torchmagic")
    assert (config["optimizer"], config["lr"], config["watch level"]) == ("Adam", 0.01, "expert")


def test_nothing_of_the_machine_is_collected(folder, run):
    kinds = {each.WhichOneof("record_type") for each in records(folder, run.id)}
    assert "stats" not in kinds
    assert "environment" not in kinds


def test_hostile_names_stay_inside(harmful, named, tmp_path):
    pytest.importorskip("wandb")
    listed = [named(word, run_id=f"id{number}") for number, word in enumerate(harmful)]
    export(listed, tmp_path / "out", to="wandb")
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]
    for run in listed:
        found = history(tmp_path / "out", run.id)
        assert found[4]["grad_norm/plain.bias"] == 2.0
