"""The file of operations is JSON, bounded, and never in the way of a training."""

import json
import logging
import math

from hypothesis import given
from hypothesis import strategies as st

from torchmagic import DebugConfig, PyTorchDebugger
from torchmagic.api.debugging.info import DebugInfo
from torchmagic.api.debugging.written import OperationFile, plain


def logger():
    return logging.getLogger("torchmagic.debugging")


def test_each_operation_is_a_line_of_json(here):
    debugger = PyTorchDebugger(DebugConfig(debug_output_dir="out"))
    with debugger.debug_context("first", "net", epoch=1, batch=2):
        pass
    with debugger.debug_context("second") as info:
        info.gradient_norm = math.inf
    lines = [json.loads(line) for line in (here / "out" / "debug_info.jsonl").read_text().splitlines()]
    assert [line["operation"] for line in lines] == ["first", "second"]
    assert (lines[0]["model_name"], lines[0]["epoch"], lines[0]["batch"]) == ("net", 1, 2)
    assert lines[1]["gradient_norm"] == "inf"
    assert lines[0]["execution_time"] == debugger.debug_history[0].execution_time


def test_the_folder_is_that_of_the_start_wherever_the_program_goes(here, monkeypatch):
    debugger = PyTorchDebugger(DebugConfig())
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    with debugger.debug_context("step"):
        pass
    assert (here / "debug_outputs" / "debug_info.jsonl").exists()


def test_the_file_keeps_its_newest_lines_within_its_bound(here):
    file = OperationFile(here, logger=logger(), most_bytes=20_000)
    for number in range(300):
        file.add(DebugInfo(operation=f"step {number}"))
    text = file.path.read_text()
    numbers = [int(json.loads(line)["operation"].split()[1]) for line in text.splitlines()]
    assert len(text) <= 20_000 + 600
    assert numbers == list(range(numbers[0], 300))
    assert len(numbers) > 10
    assert [path.name for path in here.iterdir()] == ["debug_info.jsonl"]


def test_a_folder_that_cannot_be_written_is_told_once_and_training_goes_on(here, caplog):
    (here / "taken").write_text("a file")
    debugger = PyTorchDebugger(DebugConfig(debug_output_dir="taken"))
    for _ in range(3):
        with debugger.debug_context("step"):
            pass
    assert len(debugger.debug_history) == 3
    assert caplog.text.count("operations are kept in memory only") == 1


ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner, inner),
)


@given(ANYTHING)
def test_everything_has_a_plain_form(value):
    json.dumps(plain(value), allow_nan=False)
