"""This file tests the tables of a comparison: sources, findings, parameters, what was given, results, last memory."""

import math

import pytest

from torchmagic.analyses.finding_difference import without_match
from torchmagic.analyses.last_memory import last_memory
from torchmagic.analyses.parameter_difference import parameter_changes
from torchmagic.analyses.results import results
from torchmagic.analyses.run_differences import causes, differences, first_values_differ, other_texts, seeds_are_known
from torchmagic.analyses.run_facts import differing, environment_facts, setting_facts, training_facts
from torchmagic.analyses.source_difference import num_changed, source_difference
from torchmagic.jupyter.cell_magics import CELL_MAGICS, TORCHBENCH
from torchmagic.records.beginning import BeginningRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord, ModelRecord, ParameterRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.records.objective import GroupRecord, ObjectiveRecord
from torchmagic.session.run import Run

OLD = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\n"
GIB = 2**30


def finding(rule, *, parameter=None, title=""):
    return Finding(rule=rule, severity=Severity.ERROR, confidence=1.0, title=title, parameter=parameter)


def group(**given):
    known = {"optimizer": "opt", "class_name": "SGD", "subject": "opt", "parameters": ("w",), "num_elements": 4}
    known |= {"lr": 0.1, "weight_decay": 0.0, "decoupled": False, "maximize": False, "step": 0, "built": None}
    return GroupRecord(**known | given)


def run_with(*records, steps=10, **attributes):
    run = Run()
    run.records += records
    run.steps = steps
    for name, value in attributes.items():
        setattr(run, name, value)
    return run


def environment(seed):
    return EnvironmentRecord(torch="2.13", python="3.11", platform="", device="cpu", num_threads=2, seed=seed)


def began(**given):
    return BeginningRecord(**{"seed": 0, "random": "aa", "model": "net"} | given)


def model(**given):
    known = {"name": "net", "class_name": "A", "num_parameters": 4, "num_trainable": 4, "num_bytes": 16}
    return ModelRecord(**known | given)


def trained(norms, *, metric="weight_norm", steps=None):
    run = Run()
    for name in norms[0]:
        run.records.append(
            ParameterRecord(
                name=name, model="net", module="net", shape=(2, 2), dtype="float32", device="cpu", trainable=True
            )
        )
    for step, row in zip(steps or range(len(norms)), norms, strict=True):
        run.frame(metric, tuple(row)).append(step, tuple(row.values()))
    run.steps = 10
    return run


def with_memory(used, free=()):
    run = Run()
    for metric, values in (("rss_bytes", used), ("free_bytes", free)):
        for step, value in enumerate(values):
            run.frame(metric, ("",)).append(step, (value,))
    return run


def test_equal_sources_have_no_difference_and_spaces_at_line_ends_are_none():
    assert source_difference(OLD, OLD.replace("\n", "  \n") + "\n\n") == []
    assert num_changed(OLD, OLD) == 0


def test_a_changed_line_stands_between_lines_around_it():
    assert source_difference(OLD, OLD.replace("e = 5", "e = 50"), around=1) == [
        ("@", "line 4"), (" ", "d = 4"), ("-", "e = 5"), ("+", "e = 50"), (" ", "f = 6"),
    ]  # fmt: skip


@pytest.mark.parametrize("magic", [each.name for each in (*CELL_MAGICS, TORCHBENCH)])
def test_headers_of_ours_are_no_part_of_the_source(magic):
    assert source_difference(OLD, f"%%{magic} --panel none\n\n%%torchprofile\n{OLD}") == []
    assert num_changed(f"%%{magic} --name a\n{OLD}", f"%%{magic}\n{OLD}") == 0
    assert num_changed(OLD, f"%%{magic}x\n{OLD}") == num_changed(OLD, f"%%time\n{OLD}") == 1


def test_lines_below_a_header_keep_their_numbers():
    new = "%%torchdebug\n" + OLD.replace("e = 5", "e = 50")
    assert source_difference(OLD, new, around=1)[0] == ("@", "line 5")


def test_each_place_after_a_gap_is_named():
    new = OLD.replace("a = 1", "a = 0").replace("f = 6", "f = 0")
    signs = [sign for sign, _ in source_difference(OLD, new, around=1)]
    assert signs == ["-", "+", " ", "@", " ", "-", "+"]


def test_a_replaced_line_is_one_change_and_added_ones_are_many():
    assert num_changed(OLD, OLD.replace("b = 2", "b = 0")) == 1
    assert num_changed(OLD, "x\ny\n" + OLD) == 2
    assert num_changed("", "x\ny") == 2


def test_a_finding_of_the_same_rule_is_the_same_whatever_its_numbers():
    assert without_match([finding("spike", title="3.1")], [finding("spike", title="2.9")]) == []
    assert without_match([finding("spike"), finding("plateau")], [finding("spike")]) == [finding("plateau")]


def test_of_several_findings_of_a_rule_that_of_another_place_is_left():
    two = [finding("dead", parameter="a"), finding("dead", parameter="b")]
    assert without_match(two, [finding("dead", parameter="b")]) == [two[0]]
    assert without_match(two[:1], [finding("dead", parameter="c")]) == []


def test_parameters_that_changed_most_come_first_and_halving_counts_as_doubling():
    one = trained([{"a": 1.0, "b": 1.0, "c": 1.0, "same": 1.0}])
    other = trained([{"a": 1.5, "b": 0.1, "c": 3.0, "same": 1.0}])
    assert [change.name for change in parameter_changes(one, other)] == ["b", "c", "a"]


def test_gradients_are_compared_at_late_steps_that_both_runs_looked_at():
    one = trained([{"w": 1.0}, {"w": 5.0}, {"w": 9.0}], metric="grad_norm", steps=[0, 8, 9])
    other = trained([{"w": 1.0}, {"w": 5.0}], metric="grad_norm", steps=[0, 8])
    assert parameter_changes(one, other) == []


def test_without_a_late_step_in_common_each_run_is_told_by_its_own_last_ones():
    one = trained([{"w": 1.0}, {"w": 5.0}], metric="grad_norm", steps=[0, 9])
    other = trained([{"w": 1.0}, {"w": 7.0}], metric="grad_norm", steps=[0, 8])
    (change,) = parameter_changes(one, other)
    assert change.values["grad_norm"] == (3.0, 4.0)


def test_a_parameter_that_became_nan_differs_most():
    one, other = trained([{"a": 1.0, "b": 1.0}]), trained([{"a": 9.0, "b": math.nan}])
    assert [change.name for change in parameter_changes(one, other)] == ["b", "a"]
    assert parameter_changes(other, other) == []


def test_names_of_variables_are_no_difference_and_hyperparameters_are():
    one, other = Run(), Run()
    one.records += [group(), ModelRecord(name="net", class_name="A", num_parameters=4, num_trainable=4, num_bytes=16)]
    other.records += [
        group(optimizer="o", subject="o", lr=0.01, weight_decay=1e-4),
        ModelRecord(name="model", class_name="A", num_parameters=4, num_trainable=4, num_bytes=16),
    ]
    assert differing([training_facts(one), training_facts(other)]) == {"lr": (0.1, 0.01), "weight decay": (0.0, 1e-4)}


def test_groups_and_a_second_optimizer_are_told_apart():
    run = Run()
    run.records += [group(), group(subject="opt[1]", lr=0.2), group(optimizer="d", class_name="Adam", lr=0.3)]
    facts = training_facts(run)
    assert (facts["lr of group 1"], facts["lr of group 2"], facts["lr of optimizer 2"]) == (0.1, 0.2, 0.3)
    assert facts["optimizer 2"] == "Adam"


def test_what_one_run_lacks_is_none():
    one, other = Run(), Run()
    other.records.append(LoaderRecord(name="l", batch_size=8, num_workers=0, sampler="RandomSampler", num_batches=4))
    assert differing([training_facts(one), training_facts(other)])["batch size"] == (None, 8)


def test_every_setting_of_a_group_is_compared_and_those_of_another_optimizer_are_not():
    one = run_with(group(settings={"momentum": 0.0, "nesterov": False, "initial_lr": 0.1}))
    other = run_with(group(settings={"momentum": 0.9, "nesterov": True}))
    assert causes(one, other) == {"momentum": (0.0, 0.9), "nesterov": (False, True)}
    adam = run_with(group(class_name="Adam", settings={"betas": "0.9, 0.999"}))
    assert causes(one, adam) == {"optimizer": ("SGD", "Adam")}
    assert causes(one, run_with(group())) == {}  # an older run kept none


def test_what_follows_from_another_difference_is_a_cause_only_by_itself():
    frozen = {"num_trainable": 2}
    assert causes(run_with(model()), run_with(model(**frozen))) == {"trainable parameters of the model": (4, 2)}
    larger = run_with(model(num_parameters=8, **frozen))
    assert causes(run_with(model()), larger) == {"parameters of the model": (4, 8)}


def test_batch_sizes_and_layers_are_compared_where_both_runs_have_them():
    one = run_with(began(batch_size=64, layers={"Dropout p": "0.1", "Tanh layers": "1"}))
    other = run_with(began(batch_size=8, layers={"Dropout p": "0.5", "ReLU layers": "1"}))
    assert causes(one, other) == {
        "batch size given to the model": (64, 8), "Dropout p": ("0.1", "0.5"), "Tanh layers": ("1", None),
        "ReLU layers": (None, "1"),
    }  # fmt: skip
    assert causes(one, run_with()) == {}


def test_the_seed_that_counts_is_the_one_that_training_began_with():
    one, other = run_with(environment(11), began(seed=7)), run_with(environment(12), began(seed=7))
    assert causes(one, other) == {}
    assert causes(one, run_with(environment(11), began(seed=8))) == {"seed": ("7", "8")}
    assert causes(run_with(environment(1), steps=0), run_with(environment(2), steps=0)) == {"seed": ("1", "2")}


def test_the_seed_of_an_older_run_that_trained_is_not_known():
    one, older = run_with(environment(11), began(seed=7)), run_with(environment(12))
    assert differences([one, older])["environment"] == {}
    assert not seeds_are_known(one, older)


def test_a_loss_with_label_smoothing_is_another_one():
    known = {"loss": "loss", "place": None, "step": 0, "criteria": ("cross_entropy",), "mixed": False, "sign": 1}
    known |= {"scale": 1.0, "weighted": False, "log_prob": False, "num_classes": 3}
    one, other = (run_with(ObjectiveRecord(**known, altered=altered)) for altered in (False, True))
    assert causes(one, other) == {"loss function with smoothing, weights or another reduction": (False, True)}


def test_values_given_first_are_compared_where_they_were_read():
    one, other = run_with(began(values="aa")), run_with(began(values="bb"))
    assert (first_values_differ(one, other), first_values_differ(one, one)) == (True, False)
    assert first_values_differ(one, run_with(began())) is None


def test_texts_of_other_cells_and_files_are_compared():
    one = run_with(texts={"model.py": "a = 1", "<1>": "b = 1", "<2>": "c"}, source="x")
    assert other_texts(one, run_with(texts={"model.py": "%%torchdebug\na = 1\n", "<9>": "b = 1"}, source="c")) == []
    other = run_with(texts={"model.py": "a = 2", "<3>": "b = 2", "<2>": "c"}, file_names={"<3>": "cell 3"})
    assert other_texts(one, other) == [("model.py", "a = 1", "a = 2"), ("cell 3", "b = 1", "b = 2")]
    several = run_with(texts={"<4>": "d", "<5>": "e"}, file_names={"<4>": "cell 4", "<5>": "cell 5"})
    assert other_texts(one, several) == [("cell 4, cell 5", "", "")]


def test_settings_of_how_a_run_is_shown_or_kept_are_not_compared():
    run = Run(settings={"level": "basic", "name": "x", "panel": "live", "save": True, "only": ["data"], "every": None})
    assert setting_facts(run) == {"level": "basic", "only": "data", "every": "not set"}


def test_only_what_is_known_of_the_environment_is_compared():
    run = Run()
    run.records.append(EnvironmentRecord(torch="2.13", python="3.11", platform="", device="cpu", num_threads=2))
    facts = environment_facts(run)
    assert (facts["torch"], facts["Python"], facts["threads"]) == ("2.13", "3.11", 2)
    assert "platform" not in facts
    assert environment_facts(Run()) == {}


def test_results_hold_what_is_known_with_its_unit():
    run = Run()
    for step, value in enumerate([2.0, math.nan, 0.5, 1.0]):
        run.frame("loss", ("loss",)).append(step, (value,))
    run.steps, run.clock.seconds, run.clock.cost = 4, 2.0, 0.4
    found = {name: (value, unit) for name, value, unit in results(run)}
    assert found["last loss"] == (1.0, "")
    assert found["best loss"] == (0.5, "")
    assert found["time per step"] == (pytest.approx(0.4), "s")
    assert found["cost of watching"] == (pytest.approx(0.2), "%")
    assert "last evaluation loss" not in found


def test_memory_ran_out_where_hardly_any_was_left():
    assert last_memory(with_memory([10 * GIB], [GIB / 4])).ran_out is True
    assert last_memory(with_memory([10 * GIB], [6 * GIB])).ran_out is False
    assert last_memory(with_memory([10 * GIB])).ran_out is None
    assert last_memory(Run()) is None


def test_memory_ran_out_where_it_had_risen_by_more_than_was_left():
    memory = last_memory(with_memory([GIB, GIB, GIB, GIB, 6 * GIB], [8 * GIB, 8 * GIB, 8 * GIB, 8 * GIB, 3 * GIB]))
    assert (memory.rise, memory.ran_out) == (5 * GIB, True)
    assert memory.grown == 5 * GIB
