"""This file tests the MCP server with the client of its SDK, over stdio, in one process without torch."""

import asyncio
import json
import math
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import torchmagic
from torchmagic.__main__ import main
from torchmagic.records.finding import Finding, Severity
from torchmagic.session.run import Run
from torchmagic.session.session import Session
from torchmagic.session.status import Status

mcp = pytest.importorskip("mcp")
ROOT = Path(torchmagic.__file__).parents[1]
WITHOUT_TORCH = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "psutil", "IPython", "ipywidgets", "fastapi"):
            raise ImportError(f"{name} is not to be had here")
sys.meta_path.insert(0, Refuse())
from torchmagic.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
SICK = Finding(
    rule="loss-spike",
    severity=Severity.ERROR,
    confidence=0.8,
    title="the loss jumps",
    step=7,
    evidence={"loss": math.inf, "threshold": 10, "at": "line 3"},
    causes=("exploding-gradient",),
)
TOOLS = {"list_runs", "show_run", "findings", "series", "compare_runs", "explain_rule"}
ASKED = [
    ("list_runs", {}),
    ("list_runs", {"limit": 1}),
    ("show_run", {}),
    ("show_run", {"run": "done"}),
    ("show_run", {"run": "done", "full": True}),
    ("findings", {"run": "1"}),
    ("findings", {"run": "1", "rule": "dead-relu"}),
    ("series", {"metric": "loss", "run": "1", "points": 7}),
    ("series", {"metric": "grad_norm", "run": "1", "subject": "net.0.weight"}),
    ("compare_runs", {"runs": ["1", "2"]}),
    ("explain_rule", {"rule": "missing-zero-grad"}),
    ("explain_rule", {}),
]
WRONG = [
    ("show_run", {"run": "99"}, "no run has the number 99; there are 2 runs, with numbers from 1 to 2"),
    ("show_run", {"run": "../../etc/passwd"}, "no run has the name or id '../../etc/passwd'; there are 2 runs"),
    ("series", {"metric": "los", "run": "1"}, "the run has no series 'los'; did you mean 'loss'?"),
    ("series", {"metric": "loss", "points": 1}, "series: points: Input should be greater than or equal to 5, got 1"),
    ("series", {}, "series: metric: Field required"),
    ("findings", {"rule": "ded-relu"}, "there is no rule 'ded-relu'; did you mean 'dead-relu'?"),
    ("explain_rule", {"rule": "zzz"}, "there is no rule 'zzz'; explain_rule without a rule lists all"),
    ("compare_runs", {"runs": ["1", "1"]}, "a comparison wants different runs, such as ['1', '2']"),
    ("compare_runs", {"runs": ["1"]}, "compare_runs: runs: List should have at least 2 items"),
    ("clear", {}, "there is no tool 'clear'; there are list_runs, "),
]


async def _talk(folder, called):
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-c", WITHOUT_TORCH, "mcp", "--store", str(folder)],
        env={"PYTHONPATH": paths},
        cwd=folder,
    )
    async with mcp.Client(server, read_timeout_seconds=60) as client:
        tools = (await client.list_tools()).tools
        answers = [await client.call_tool(name, arguments) for name, arguments in called]
        return tools, answers, client.server_info


def stored(folder):
    """Fill a store with a sick run whose loss breaks, and a healthy one."""
    session = Session(folder)
    for name in ("done", "newest"):
        run = Run(name=name, source="loss.backward()", settings={"level": "basic"})
        for step in range(30):
            run.frame("loss", ("",)).append(step, (math.nan if (name, step) == ("done", 20) else 1 / (step + 1),))
            run.frame("grad_norm", ("net.0.weight", "net.0.bias")).append(step, (0.5 + step, 0.25))
            run.steps = step + 1
        run.status, run.clock.seconds, run.clock.cost = Status.OK, 2.0, 0.1
        run.findings = (SICK, replace(SICK, rule="plateau")) if name == "done" else ()
        session.add(run)
        session.write(run, final=True)
    session.close()


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    """Return the tools, the answers, how the server calls itself, and whether the store was left as it was."""
    folder = tmp_path_factory.mktemp("assistant")
    stored(folder)
    file = folder / ".torchmagic" / "session.sqlite"
    before = file.read_bytes()
    called = [*ASKED, *((name, arguments) for name, arguments, _said in WRONG)]
    told = asyncio.run(_talk(folder, called))
    assert file.read_bytes() == before
    return told


def answered(talk, name):
    _tools, answers, _server = talk
    return [answer for (called, _), answer in zip(ASKED, answers, strict=False) if called == name]


def text_of(answer):
    assert not answer.is_error, answer.content
    (content,) = answer.content
    return content.text


def test_it_tells_its_name_and_tools_that_change_nothing(talk):
    tools, _answers, server = talk
    assert (server.name, server.version) == ("torchmagic", torchmagic.__version__)
    assert {tool.name for tool in tools} == TOOLS
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert tool.description
        for name, argument in tool.input_schema["properties"].items():
            assert argument["description"], (tool.name, name)


def test_runs_are_listed_the_newest_first(talk):
    everything, newest = (answer.structured_content for answer in answered(talk, "list_runs"))
    assert [(run["number"], run["name"], run["errors"]) for run in everything["runs"]] == [
        (2, "newest", 0),
        (1, "done", 2),
    ]
    assert (everything["total"], len(newest["runs"]), newest["total"]) == (2, 1, 2)


def test_a_run_is_told_briefly_or_whole(talk):
    newest, done, full = map(text_of, answered(talk, "show_run"))
    assert newest.startswith("run 2: newest · ok · 30 steps")
    assert "ERROR  the loss jumps" in done
    assert len(done) < len(full)
    assert "Memory & time\n─" in full


def test_findings_keep_their_numbers_as_numbers(talk):
    everything, none = answered(talk, "findings")
    first = everything.structured_content["findings"][0]
    assert first["evidence"] == {"loss": "Infinity", "threshold": 10, "at": "line 3"}
    assert (first["rule"], first["step"], first["causes"]) == ("loss-spike", 7, ["exploding-gradient"])
    assert json.loads(text_of(everything)) == everything.structured_content
    assert none.structured_content["findings"] == []


def test_a_series_is_thinned_and_keeps_what_is_not_finite(talk):
    loss, norm = (answer.structured_content for answer in answered(talk, "series"))
    assert len(loss["steps"]) <= 7 < loss["points"] == 30
    assert loss["values"][loss["steps"].index(20)] == "NaN"
    assert norm["values"][:2] == [0.5, 1.5]


def test_runs_are_compared_and_rules_explained(talk):
    (compared,) = map(text_of, answered(talk, "compare_runs"))
    one, listed = map(text_of, answered(talk, "explain_rule"))
    assert "done" in compared
    assert one.startswith("missing-zero-grad\n")
    assert "Why it happens" in one
    assert "dead-relu" in listed


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_wrong_is_one_line_that_says_what_to_do(number, talk):
    _name, _arguments, said = WRONG[number]
    answer = talk[1][len(ASKED) + number]
    assert answer.is_error
    (content,) = answer.content
    assert content.text.startswith(said)
    assert "\n" not in content.text


def test_a_folder_that_is_not_there_is_one_line(capsys):
    assert main(["mcp", "--store", "/nowhere/at/all"]) == 2
    assert capsys.readouterr().err.startswith("torchmagic: there is no folder /nowhere/at/all; name the one in which")


def test_without_the_package_it_is_said_how_to_get_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.delitem(sys.modules, "torchmagic.server.assistant", raising=False)
    assert main(["mcp", "--store", str(tmp_path)]) == 2
    assert 'pip install "torchmagic[mcp]"' in capsys.readouterr().err
