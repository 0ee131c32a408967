"""This file runs the examples: each sick script gives its rule at its line, a sound one no alarm."""

import re
import sys
import warnings
from pathlib import Path

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.note import FailureRecord
from torchmagic.rules.judgement import judge
from torchmagic.session.loading import from_json

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import scripts as scripts_file  # noqa: E402 - it lies beside this file, for the manual to read too


def scripts(pattern):
    # those of ranks are played by several processes: see ranks/test_rank_examples.py
    paths = sorted(path for path in HERE.glob(f"*/*/{pattern}.py") if path.parent.parent.name != "ranks")
    return pytest.mark.parametrize("path", paths, ids=[f"{path.parent.name}/{path.stem}" for path in paths])


def watched(path):
    """Run a script as a cell is run; no probe may fail at it."""
    run, error = scripts_file.watched(path.read_text(encoding="utf-8"), str(path))
    assert not run.of(FailureRecord)
    return run, error


def unexpected(rule, error):
    raise AssertionError(f"{rule} raised") from error


def wanted(path, key):
    """Return what a comment ``# expect-line: …`` or ``# expect-module: …`` inside the script asks for."""
    found = re.search(rf"^# expect-{key}: *(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1).strip() if found else None


@scripts("bad*")
def test_a_sick_script_is_told_first_what_is_wrong_and_where(path):
    if lacks := scripts_file.missing(path.read_text(encoding="utf-8")):
        pytest.skip(f"this machine has no {lacks}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of some of these bugs itself
        run, _ = watched(path)
    rule = path.parent.name.replace("_", "-")
    found = [finding for finding in run.findings if finding.rule == rule]
    assert [finding.rule for finding in run.findings][:1] == [rule]
    line, module = wanted(path, "line"), wanted(path, "module")
    if line is not None:
        assert line in [finding.source for finding in found]
        text = path.read_text(encoding="utf-8").splitlines()
        assert all(text[finding.line - 1].strip() == finding.source for finding in found if finding.line)
    if module is not None:
        assert module in [finding.module or finding.parameter for finding in found]
    assert judge(from_json(run.to_json()), unexpected) == run.findings  # a stored run says the same


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad:UserWarning:torch")  # once a process
@scripts("good*")
def test_a_sound_script_gives_no_alarm(path):
    run, error = watched(path)
    assert error is None
    assert run.steps >= 5
    own = path.parent.name.replace("_", "-")
    alarms = [each for each in run.findings if each.severity is not Severity.INFO or each.rule == own]
    assert not alarms, alarms
