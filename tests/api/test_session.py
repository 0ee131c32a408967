"""The public session: every run by number, name or id, what can be seen of it, and what can be done with it."""

import json
import subprocess
import sys

import pytest

from torchmagic.api.session import PublicSession
from torchmagic.debuggers.switches import Switches
from torchmagic.records.finding import Finding, Severity
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session


def finding(title="the loss does not fall"):
    return Finding(
        rule="loss-not-decreasing", severity=Severity.WARNING, confidence=0.9, title=title, why="it is flat", fix="lr"
    )


def trained(name="", *, losses=(3.0, 2.0, 1.0), findings=(), lr=0.1):
    run = Run(name=name, source=f"optimizer = SGD(model.parameters(), lr={lr})", settings={"level": "basic"})
    for step, loss in enumerate(losses):
        run.frame("loss", [""]).append(step, [loss])
        run.frame("grad_norm", ["net.weight", "net.bias"]).append(step, [loss / 2, loss / 4])
    run.steps, run.findings = len(losses), tuple(findings)
    return run


def end(engine, run, status=Status.OK):
    engine.add(run)
    run.status = status
    engine.write(run, final=True)
    return run


@pytest.fixture
def engine(tmp_path):
    engine = Session(tmp_path)
    yield engine
    engine.close()


@pytest.fixture
def session(engine):
    return PublicSession(engine, switches=Switches())


@pytest.fixture
def two(engine):
    return [end(engine, trained("slow", lr=0.01, findings=[finding()])), end(engine, trained("fast", lr=0.1))]


@pytest.mark.parametrize("which", [1, "1", -2, "-2", "slow"])
def test_a_run_is_found_by_number_from_either_end_and_by_name(session, two, which):
    assert session.get(which) is two[0]
    assert session[which] is two[0]


def test_a_run_is_found_by_its_id_and_by_itself(session, two):
    assert session[two[1].id] is two[1]
    assert session[two[1]] is two[1]
    assert session.get("last") is session.get() is session.last is two[1]


def test_a_run_that_is_not_there_is_one_line_that_says_so(session, two):
    with pytest.raises(KeyError) as error:
        session.get(9)
    assert "9" in error.value.args[0]
    assert "\n" not in error.value.args[0]


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda session: session.get(None), KeyError, "number, id or name, or 'last', None came; there are 2 runs"),
        (lambda session: session.compare(1.5, 2), KeyError, "1.5 came"),
        (lambda session: session.plot("loss", runs=1.5), KeyError, "1.5 came"),
        (lambda session: session.plot(5), ValueError, "metric: '5' was not recorded"),
        (lambda session: session.tag(1, 5), ValueError, "a tag is a text such as 'good', .* 5 came"),
        (lambda session: session.tag(1, ""), ValueError, "'' came"),
        (lambda session: session.note(1, 5), ValueError, "a note is a text such as 'too high', .* 5 came"),
        (lambda session: session.export("run.html", runs=[]), ValueError, "there is no run to export"),
        (lambda session: session.plot("loss", runs=[]), ValueError, "nothing was trained in these runs"),
        (lambda session: session.enable(5), ValueError, "there is no probe '5'; there are anomaly"),
    ],
)
def test_what_is_of_another_kind_than_wanted_is_one_line_that_says_so(session, two, ask, error, said):
    with pytest.raises(error, match=said) as caught:
        ask(session)
    assert "\n" not in str(caught.value)


def test_without_any_run_last_is_none_and_asking_for_it_says_what_to_do(session):
    assert session.last is None
    with pytest.raises(KeyError, match="run a cell that begins with %%torchdebug"):
        session.show()


def test_runs_of_an_earlier_process_are_read_drawn_and_compared(tmp_path, two, engine):
    engine.close()
    later = PublicSession(Session(tmp_path), switches=Switches())
    assert later.runs == []
    assert later.last.name == "fast"
    assert "the loss does not fall" in str(later.show("slow"))
    later.get(1).report(tmp_path / "report.html")
    assert "the loss does not fall" in (tmp_path / "report.html").read_text()
    assert "slow" in str(later.compare(1, 2))
    later.close()


def test_the_history_shows_the_newest_twenty_unless_all_are_asked_for(session, engine):
    for number in range(22):
        end(engine, trained(f"run-{number}"))
    shown = session.history()
    assert [entry.name for entry in shown.content] == [f"run-{number}" for number in range(2, 22)]
    assert "2 earlier runs" in str(shown)
    for text in (str(shown), shown._repr_html_()):
        assert all(f"run-{number}" in text for number in range(2, 22))
    everything = session.history(everything=True)
    assert len(everything.content) == 22
    assert "earlier run" not in str(everything)


def test_compare_takes_the_last_two_when_none_is_named_and_wants_two(session, two):
    assert session.compare().content == tuple(two)
    for same in ((1,), (1, "slow")):
        with pytest.raises(ValueError, match="two different runs or more, such as compare"):
            session.compare(*same)


def test_plot_takes_the_last_run_or_those_named(session, two):
    assert session.plot("loss").content == (two[1],)
    assert session.plot("loss", runs=[1, "fast"]).content == tuple(two)
    assert session.plot("loss", runs="slow").content == (two[0],)
    assert session.plot("loss", runs="last").content == (two[1],)
    shown = str(session.plot("grad_norm", parameter="*.bias"))
    assert "net.bias" in shown
    assert "net.weight" not in shown


def test_notes_and_tags_stay_with_the_run(tmp_path, session, two, engine):
    session.note("slow", "too low, isn't it")
    assert session.tag("slow", "baseline", "bad") == ("baseline", "bad")
    assert session.tag("slow", "-bad", "good", "baseline") == ("baseline", "good")
    engine.close()
    (entry, _) = PublicSession(Session(tmp_path), switches=Switches()).history().content
    assert (entry.note, entry.tags) == ("too low, isn't it", ("baseline", "good"))


def test_clear_forgets_the_runs_here_and_the_store_only_if_told(session, two):
    session.clear()
    assert session.runs == []
    assert len(session.history().content) == 2
    session.clear(stored=True)
    assert session.history().content == ()


def test_export_writes_the_last_run_or_those_named(session, two, tmp_path):
    path = session.export(tmp_path / "last.json")
    assert path == tmp_path / "last.json"
    assert "fast" in path.read_text()
    assert "slow" not in path.read_text()
    both = json.dumps(json.loads(session.export(tmp_path / "both.json", runs=[1, 2]).read_text()))
    assert "slow" in both
    assert "fast" in both


def test_switches_and_level_are_told_with_what_was_switched(session):
    session.disable("activations")
    assert dict(session.status().content)["activations"] is False
    assert "switched off" in str(session.status())
    assert all(name in str(session.status()) for name, _ in session.status().content)
    session.enable("activations")
    assert dict(session.status().content)["activations"] is True
    assert session.level is None
    session.level = "basic"
    assert session.level == "basic"
    assert "All runs are watched at level basic." in str(session.status())
    session.level = None
    assert session.level is None


@pytest.mark.parametrize("word", ["enable", "disable"])
def test_an_unknown_probe_is_one_line_that_names_the_nearest(session, word):
    with pytest.raises(ValueError, match=r"'gradeints'.*did you mean 'gradients'"):
        getattr(session, word)("gradeints")


def test_a_hostile_name_is_text_in_everything_that_is_shown(session, engine):
    hostile = "<img src=x onerror=alert(1)>"
    for _ in range(2):
        end(engine, trained(hostile, findings=[finding(hostile)]))
    session.note(1, hostile)
    session.tag(1, hostile)
    for shown in (session.history(), session.show(1), session.compare(1, 2), session.plot("loss", runs=[1, 2])):
        assert "<img src=x" not in shown._repr_html_()
        assert "&lt;img src=x" in shown._repr_html_()


def test_the_session_says_what_it_holds(session, two, tmp_path):
    assert repr(session) == f"<Session of {tmp_path}: 2 runs, 2 of them of this process>"
    assert session.folder == tmp_path


# A process that dies as the system kills: nothing of Python's is run at its end, and nobody has judged the run.
DYING = """
import os, pathlib, time
from torchmagic.records.objective import ObjectiveRecord
from torchmagic.session.run import Run
from torchmagic.session.session import Session
session = Session(pathlib.Path.cwd())
run = Run(name="doomed", source="train()")
session.add(run)
run.records.append(ObjectiveRecord(
    loss="loss", place=None, step=0, criteria=("mse_loss",), mixed=False, sign=1, scale=1.0, weighted=False,
    log_prob=False, num_classes=0, altered=False))
for step in range(400):
    run.frame("loss", ["loss"]).append(step, [90.0 if step == 350 else 2.0 + 0.01 * (step % 3)])
run.steps, run.clock.seconds = 400, 12.0
session.write(run, urgent=True)
time.sleep(1.5)
os.kill(os.getpid(), 9)
"""


def test_a_run_whose_process_was_killed_is_judged_from_what_was_stored(tmp_path):
    done = subprocess.run([sys.executable, "-c", DYING], cwd=tmp_path, check=False, timeout=300)
    assert done.returncode == -9
    engine = Session(tmp_path)
    assert engine.get(1).findings == ()
    session = PublicSession(engine, switches=Switches())
    run = session.last
    assert run.status is Status.LOST
    assert [found.rule for found in run.findings] == ["loss-spike"]
    assert "The kernel died while this run went on" in str(session.show())
    assert run.findings[0].title in str(session.show("doomed"))


def test_the_folder_can_be_another_projects(tmp_path):
    session = PublicSession(Session(folder=tmp_path / "one"))
    session.folder = tmp_path / "two"
    assert session.folder == tmp_path / "two"
