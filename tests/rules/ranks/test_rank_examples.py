"""This file plays the examples of the rules about ranks: a sick script gives its rule, a sound one no alarm.

All scripts are played once; what is tested of each is read from what its ranks wrote.
"""

import re
import sys
from pathlib import Path

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.note import FailureRecord
from torchmagic.session.run import Status

sys.path.insert(0, str(Path(__file__).parent))
from play import played

HERE = Path(__file__).parent
PATHS = sorted(HERE.glob("*/*.py"))
BAD = [path for path in PATHS if path.stem.startswith("bad")]
GOOD = [path for path in PATHS if path.stem.startswith("good")]

pytestmark = pytest.mark.ranks


def called(path):
    return f"{path.parent.name}.{path.stem}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    scripts = {called(path): path.read_text(encoding="utf-8") for path in PATHS}
    first = {source: name for name, source in reversed(scripts.items())}  # several have the same sound script
    found = played({name: source for source, name in first.items()}, folder=tmp_path_factory.mktemp("played"))
    return {name: found[first[source]] for name, source in scripts.items()}


@pytest.mark.parametrize("path", BAD, ids=called)
def test_a_sick_script_is_told_first_what_is_wrong_and_where(path, runs):
    run, told = runs[called(path)]
    rule = path.parent.name.replace("_", "-")
    assert [finding.rule for finding in run.findings][:1] == [rule], told
    roots = [each for each in run.findings if not each.causes and each.severity is not Severity.INFO]
    assert [finding.rule for finding in roots] == [rule]
    line = re.search(r"^# expect-line: *(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    if line is not None:
        assert roots[0].source == line[1].strip()


@pytest.mark.parametrize("path", GOOD, ids=called)
def test_a_sound_script_gives_no_alarm(path, runs):
    run, told = runs[called(path)]
    assert {rank: each.status for rank, each in run.ranks.runs.items()} == {0: Status.OK, 1: Status.OK}, told
    assert run.steps >= 5
    alarms = [finding for finding in run.findings if finding.severity is not Severity.INFO]
    assert not alarms, alarms


@pytest.mark.parametrize("path", PATHS, ids=called)
def test_the_findings_are_those_that_rank_0_drew_as_its_run_ended(path, runs):
    run, told = runs[called(path)]
    if run.status is Status.OK:
        assert [finding.rule for finding in run.findings] == told["found"]


@pytest.mark.parametrize("path", PATHS, ids=called)
def test_no_probe_fails_on_any_rank(path, runs):
    run, _ = runs[called(path)]
    assert not [record for each in run.ranks.runs.values() for record in each.of(FailureRecord)]
