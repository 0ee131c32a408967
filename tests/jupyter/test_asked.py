"""Several headers of one cell ask for one run, whichever stands above."""

import pytest

from torchmagic.debuggers.settings import FailOn, Settings
from torchmagic.jupyter.asked import Asked, Together
from torchmagic.jupyter.cell_magics import TORCHDEBUG, TORCHPROFILE
from torchmagic.jupyter.header import is_headed, rewrite
from torchmagic.probes.modes import Modes

WATCHED = Asked(magic=TORCHDEBUG, settings=Settings(level="expert", name="", fail_on="warning"))
PROFILED = Asked(
    magic=TORCHPROFILE,
    settings=Settings(only=("performance",), name="mine", report="r.html", fail_on="error"),
    kept={"profile": {"steps": 3}},
    probes=lambda names: (names["probe"],),
    doing=lambda steps: f"step {steps}",
)


@pytest.mark.parametrize("asked", [(WATCHED, PROFILED), (PROFILED, WATCHED)])
def test_the_run_is_watched_as_torchdebug_says_with_the_labels_of_either(asked):
    together = Together(asked=asked)
    settings = together.settings
    assert (settings.level, settings.only) == ("expert", ())
    assert (settings.name, settings.report, settings.fail_on) == ("mine", "r.html", FailOn.WARNING)
    assert (together.title, together.kept, together.is_quiet) == ("torchdebug", {"profile": {"steps": 3}}, False)
    assert together.doing(4) == "step 4"


def test_a_header_alone_has_its_own_settings():
    together = Together(asked=[PROFILED])
    assert together.settings == PROFILED.settings
    assert (together.title, together.is_quiet) == ("torchprofile", True)
    assert len(together.probes({"probe": Modes})) == 1


def test_a_profile_beside_another_magic_carries_a_note_that_its_times_hold_that():
    class Recorder:
        records = []  # noqa: RUF012 - made anew for each test

        def add(self, record):
            self.records.append(record)

    probe, note = Together(asked=[PROFILED, WATCHED]).probes({"probe": Modes})
    assert probe is Modes
    note.attach(None, Recorder())
    assert Recorder.records[0].text == "%%torchprofile ran beside others: its times hold what they measured."
    assert len(Together(asked=[WATCHED]).probes({})) == 0


@pytest.mark.parametrize("between", ["", "\n"])
def test_each_header_becomes_a_call_on_its_own_line_and_the_upper_one_knows_of_the_lower(between):
    cell = f"%%torchprofile --steps 3\n{between}%%torchdebug\nx = 1\n".splitlines(keepends=True)
    assert rewrite(cell) == [
        "get_ipython().find_line_magic('_torchmagic_profile')('--steps 3', more=True)\n",
        *([between] if between else []),
        "get_ipython().find_line_magic('_torchmagic_begin')('')\n",
        "x = 1\n",
    ]


def test_a_header_of_another_magic_below_is_expanded_and_no_header_of_ours():
    above, below = rewrite(["%%torchprofile\n", "%%time\n", "x = 1\n"])
    assert above == "get_ipython().find_line_magic('_torchmagic_profile')('')\n"
    assert below == "get_ipython().run_cell_magic('time', '', 'x = 1\\n')\n"


def test_what_is_no_header_of_ours_stays():
    for cell in (["%%torchprofiler\n", "x\n"], ["x = 1\n"], ["%%torchprofile?\n"], [], ["%%torchprofile\n"]):
        assert rewrite(cell) == cell
    assert is_headed("\n %%torchprofile --quick\nx")
    assert not is_headed("%%time\nx")
