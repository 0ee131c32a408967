"""This file tests the pytest plug-in as its users run it: in a pytest of its own, from its results."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import torchmagic

ROOT = Path(torchmagic.__file__).parents[1]
PLUGIN = "torchmagic.api.pytest_plugin"
TESTS = """\
import pytest
import torch
from torch import nn

X, Y = torch.randn(32, 8), torch.randint(0, 3, (32,))


def train(*more, steps=5):
    net = nn.Sequential(nn.Linear(8, 3), *more)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(X), Y)
        loss.backward()
        optimizer.step()
    return net


def test_unwatched():
    train(nn.Softmax(dim=1))


@pytest.mark.torchmagic
def test_healthy():
    train()


@pytest.mark.torchmagic
def test_sick():
    train(nn.Softmax(dim=1))


@pytest.mark.torchmagic(fail_on="dead-*", level="basic")
def test_other_rule():
    train(nn.Softmax(dim=1))


@pytest.mark.torchmagic(ignore="softmax-before-cross-entropy")
@pytest.mark.torchmagic(level="basic")
def test_ignored():
    train(nn.Softmax(dim=1))


@pytest.mark.torchmagic(fail_on="never")
def test_looks_itself(torchmagic):
    train(nn.Softmax(dim=1))
    run = torchmagic.stop()
    assert [finding.rule for finding in run.findings] == ["softmax-before-cross-entropy"]
    assert run.name.endswith("test_looks_itself") and run.steps == 5 and torchmagic.run is run


def test_fixture_alone_fails_at_errors(torchmagic):
    train(nn.Softmax(dim=1))


@pytest.mark.torchmagic(fail_on="warning")
class TestClass:
    def test_method(self):
        net = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(X), Y).backward()
            optimizer.step()

    @pytest.mark.torchmagic(fail_on="never")
    def test_nearer_mark_wins(self):
        train(nn.Softmax(dim=1))


@pytest.mark.torchmagic
def test_raises():
    train()
    raise KeyError("planted")


@pytest.mark.torchmagic
def test_skips():
    pytest.skip("not today")


@pytest.mark.xfail(strict=True)
@pytest.mark.torchmagic
def test_expected():
    train(nn.Softmax(dim=1))


@pytest.mark.torchmagic(fail_on="eror")
def test_wrong_setting():
    raise AssertionError("it ran")


@pytest.mark.torchmagic("error")
def test_wrong_form():
    raise AssertionError("it ran")


def test_nothing_is_left_behind():
    module = nn.modules.module
    assert not module._global_forward_hooks and not module._global_forward_pre_hooks
    assert torch.Tensor.backward.__module__ == "torch._tensor"
"""
PASSED = {
    "test_unwatched",
    "test_healthy",
    "test_other_rule",
    "test_ignored",
    "test_looks_itself",
    "test_nearer_mark_wins",
    "test_nothing_is_left_behind",
}


def run_pytest(folder, *words):
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", "--strict-markers", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**known, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OMP_NUM_THREADS": "1"},
        timeout=300,
        check=False,
    )


def cases_of(folder, *words):
    """Return the cases of the suite by their names, and what pytest printed."""
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\njunit_logging = all\nfilterwarnings = error\n")
    done = run_pytest(folder, *words, "--junitxml", "o.xml", "-rA")
    cases = {case.get("name"): case for case in ET.parse(folder / "o.xml").getroot().iter("testcase")}  # noqa: S314
    assert {entry.name for entry in folder.iterdir()} <= {"test_it.py", "pytest.ini", "o.xml", "__pycache__"}
    return cases, done.stdout + done.stderr


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return cases_of(tmp_path_factory.mktemp("suite"))


def failures(cases):
    return {name: case.find("failure") for name, case in cases.items() if case.find("failure") is not None}


def test_a_watched_test_fails_with_what_was_found_and_any_other_passes(suite):
    cases, printed = suite
    assert len(cases) == 15, printed
    failed = failures(cases)
    passed = {name for name, case in cases.items() if case.find("failure") is None and case.find("skipped") is None}
    assert passed == PASSED
    assert {name for name, case in cases.items() if case.find("skipped") is not None} == {"test_skips", "test_expected"}
    assert not any(case.find("error") is not None for case in cases.values())
    for name in ("test_sick", "test_fixture_alone_fails_at_errors", "test_method"):
        said = failed[name].get("message")
        assert said.startswith("Failed: torchmagic: 1 finding"), said
        assert "ERROR  cross_entropy gets probabilities from net.1" in failed[name].text
        assert "fix       return the raw scores" in failed[name].text


def test_a_finding_names_the_line_of_the_test_itself(suite):
    cases, _printed = suite
    number = TESTS.splitlines().index("            nn.functional.cross_entropy(net(X), Y).backward()") + 1
    assert f"line {number}: nn.functional.cross_entropy(net(X), Y).backward()" in failures(cases)["test_method"].text


def test_the_run_is_a_section_of_the_report(suite):
    _cases, printed = suite
    assert "torchmagic call" in printed
    assert "test_it.py::test_sick · ok · 5 steps" in printed


def test_an_exception_of_the_test_stays_its_own(suite):
    cases, printed = suite
    failed = failures(cases)["test_raises"]
    assert failed.get("message") == "KeyError: 'planted'"
    assert "test_it.py::test_raises · error · 5 steps" in printed


def test_a_wrong_mark_fails_its_test_in_one_line(suite):
    failed = failures(suite[0])
    assert "fail_on: 'eror' is not one of never, error" in failed["test_wrong_setting"].get("message")
    assert "takes settings by name, such as fail_on='warning'" in failed["test_wrong_form"].get("message")
    assert "it ran" not in failed["test_wrong_setting"].text + failed["test_wrong_form"].text


def test_findings_come_back_from_the_processes_of_xdist(tmp_path):
    cases, printed = cases_of(tmp_path, "-p", "xdist.plugin", "-n", "1", "-k", "healthy or sick")
    failed = failures(cases)
    assert set(cases) == {"test_healthy", "test_sick"}
    assert set(failed) == {"test_sick"}
    assert "ERROR  cross_entropy gets probabilities from net.1" in failed["test_sick"].text
    assert "test_it.py::test_sick · ok · 5 steps" in printed


def test_a_suite_without_a_watched_test_loads_neither_torch_nor_a_room(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    ours = {name for name in sys.modules if name.startswith(('torchmagic', 'torch', 'numpy', 'IPython'))}\n"
        f"    assert ours == {{'torchmagic', 'torchmagic.api', {PLUGIN!r}}}\n"
    )
    done = run_pytest(tmp_path, "-q")
    assert done.returncode == 0, done.stdout
    assert (
        "@pytest.mark.torchmagic(fail_on='error', **settings): watch the test"
        in run_pytest(tmp_path, "--markers").stdout
    )


def test_pytest_finds_the_plug_in_where_torchmagic_is_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"torchmagic": PLUGIN}


REPORTS = f"""{TESTS.partition("def test_unwatched")[0]}

@pytest.mark.torchmagic(report="sick.html")
def test_sick():
    train(nn.Softmax(dim=1))


@pytest.mark.torchmagic(report="stopped.html")
def test_stopped(torchmagic):
    train()
    torchmagic.stop()
    import os
    os.remove("stopped.html")  # written as the run ended, and once


@pytest.mark.torchmagic(report="no/where.html")
def test_nowhere():
    raise AssertionError("it ran")
"""


def test_the_report_of_a_mark_is_written_or_refused_before_the_test(tmp_path):
    (tmp_path / "test_reports.py").write_text(REPORTS, encoding="utf-8")
    done = run_pytest(tmp_path, "-rA")
    said = done.stdout + done.stderr
    assert "cross_entropy gets probabilities" in (tmp_path / "sick.html").read_text(encoding="utf-8"), said
    assert not (tmp_path / "stopped.html").exists()
    assert "PASSED test_reports.py::test_stopped" in said
    assert "@pytest.mark.torchmagic: cannot write no/where.html: the folder" in said
    assert "it ran" not in said
    assert "During handling" not in said
