"""This file tests the rule on states that are no copies, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.records.state import AliasedStateRecord
from torchmagic.rules.parameters.aliased_state_dict import aliased_state_dict
from torchmagic.session.run import Run

TAKEN = Place(file="<cell>", line=7, source="best = model.state_dict()")
USED = Place(file="<cell>", line=9, source="model.load_state_dict(best)")


def found(*records, text="", **changes):
    run = Run(source=text)
    facts = {
        "model": "model", "how": "loaded", "source": "model", "taken": TAKEN, "place": USED, "taken_step": 12,
        "step": 30, "times": 1,
    }  # fmt: skip
    run.records += records or (AliasedStateRecord(**facts | changes),)
    return list(aliased_state_dict(run))


def test_it_is_told_at_the_line_that_took_the_state():
    (finding,) = found()
    assert (finding.severity, finding.line, finding.step) == (Severity.ERROR, 7, 30)
    assert finding.title == "the state loaded into model is no copy: it holds the newest weights, not those of step 12"
    assert finding.fix == "best = copy.deepcopy(model.state_dict())"
    assert finding.evidence["by"] == USED.source


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"how": "saved"}, "the state saved is no copy: it holds the newest weights, not those of step 12"),
        ({"taken_step": 0}, "the state loaded into model is no copy: it holds the newest weights, not the first ones"),
        ({"step": 12}, "the state loaded into model is no copy: it holds what was loaded since it was taken"),
        (
            {"model": ""},
            "the state loaded into the model is no copy: it holds the newest weights, not those of step 12",
        ),
    ],
)
def test_the_title_says_what_it_holds(changes, words):
    (finding,) = found(**changes)
    assert finding.title == words


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("online = Net()\ntarget = online  # a copy\nloop()", 2),
        ("class Agent:\n    def __init__(self, net):\n        self.online = net\n        self.target = self.online", 4),
        ("target = copy.deepcopy(online)", 9),
        ("online = target", 9),
        ("target = online.copy()", 9),
    ],
)
def test_one_model_of_two_names_is_told_where_it_gets_the_second(text, line):
    (finding,) = found(text=text, how="same", model="target", source="online")
    assert finding.line == line
    assert finding.title.startswith("target and online are one model")
    assert finding.fix == "target = copy.deepcopy(online)"


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("self.best = net.encoder.state_dict()", "self.best = copy.deepcopy(net.encoder.state_dict())"),
        ("b = {k: v.cpu() for k, v in m.state_dict().items()}", None),
        ("states.append(models[0].state_dict())", "states.append(copy.deepcopy(models[0].state_dict()))"),
        ("return trainer.state(", "copy.deepcopy(model.state_dict())"),
    ],
)
def test_the_fix_is_the_users_line_with_a_copy(line, fix):
    (finding,) = found(taken=Place(file="<cell>", line=3, source=line))
    assert finding.fix == (fix or line.replace("m.state_dict()", "copy.deepcopy(m.state_dict())"))


def test_a_state_that_is_put_to_use_twice_is_told_once():
    facts = {"model": "m", "source": "m", "taken": TAKEN, "taken_step": 1, "step": 3, "times": 1}
    both = [
        AliasedStateRecord(how=how, place=Place(file="<cell>", line=n), **facts)
        for n, how in ((8, "loaded"), (9, "saved"))
    ]
    assert len(found(*both)) == 1


def test_a_state_whose_line_is_not_known_is_told_where_it_is_used():
    (finding,) = found(taken=None)
    assert finding.line == 9
    assert finding.fix == "copy.deepcopy(model.state_dict())"
