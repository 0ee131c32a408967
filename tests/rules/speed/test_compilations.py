"""This file tests the rules on recompiling and on graph breaks, on records written by hand."""

import pytest

from torchmagic.records.compilation import CompilationRecord, CompiledFunction
from torchmagic.rules.speed.graph_breaks import graph_breaks
from torchmagic.rules.speed.recompiles import recompiles


@pytest.fixture
def compiled(profiled, at):
    def written(**changes):
        facts = {"times": 4, "seconds": 2.0, "reasons": ("size mismatch at index 0",), "breaks": (), "cuts": (),
                 "place": at("def forward(self, x):", "forward", line=3)}  # fmt: skip
        function = CompiledFunction(**facts | changes)
        return profiled.add(CompilationRecord(seconds=2.0, run_seconds=10.0, functions=(function,))).written()

    return written


def test_compiling_again_and_again_is_told_with_its_reason(compiled):
    (found,) = recompiles(compiled())
    assert found.title == "forward was compiled 4 times, which took 2.0 s; saves up to 1.5 s (15% of the run)"
    assert found.evidence["share of the run"] == "20%"
    assert "size mismatch at index 0" in found.why
    assert found.source == "def forward(self, x):"


@pytest.mark.parametrize("changes", [{"times": 3}, {"seconds": 0.29}], ids=str)
def test_a_second_shape_and_what_took_no_time_are_silent(compiled, changes):
    assert not list(recompiles(compiled(**changes)))


def test_a_cut_is_told_at_its_line(compiled, at):
    run = compiled(breaks=("it cannot trace print",), cuts=(at("print(x.shape)", "forward", line=5),))
    (found,) = graph_breaks(run)
    assert found.title == "forward is compiled in at least 2 parts"
    assert (found.source, found.line) == ("print(x.shape)", 5)
    assert found.why.startswith("it cannot trace print")


def test_a_whole_function_is_silent(compiled):
    assert not list(graph_breaks(compiled()))


@pytest.mark.parametrize(("share", "told"), [(0.25, 1), (0.26, 0)])
def test_a_share_that_is_just_enough_is_told(compiled, share, told):
    assert len(list(recompiles(compiled(seconds=2.5), min_share=share))) == told
