"""This file tests the rule on batches that stay the same, on records written by hand."""

import math

import pytest

from torchmagic.records.data import BatchRecord, Source
from torchmagic.records.feeding import LoaderUseRecord, RepeatedInputRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.rules.data.constant_batch import MIN_STEPS, constant_batch
from torchmagic.session.run import Run

SOURCE = "for i in range(9):\n    xb = x[:32]\n    loss = f(net(xb))\n"
CALL = Place(file="<cell>", line=3, source="loss = f(net(xb))")
FETCH = Place(file="<cell>", line=2, source="xb, yb = next(iter(train))")


def loader(*, shuffle=False, num_batches=8):
    return LoaderRecord(
        name="train", batch_size=32, num_workers=0, sampler="S", num_batches=num_batches, shuffle=shuffle
    )


def use(*, single=30, passes=30, trained=30):
    return LoaderUseRecord(
        loader="train",
        num_passes=passes,
        num_batches=passes,
        num_single=single,
        num_empty=0,
        num_trained=trained,
        place=FETCH,
    )


def repeated(*, num_steps=16, rows=32, known=640, source="", place=CALL, evaluated=0):
    return RepeatedInputRecord(
        model="net",
        step=0,
        num_steps=num_steps,
        num_rows=rows,
        num_known=known,
        loader=source,
        place=place,
        num_evaluated=evaluated,
    )


def found(*records, source=SOURCE):
    run = Run(source=source)
    run.records += records
    return list(constant_batch(run))


def test_a_loader_that_begins_anew_in_each_step_is_an_error_at_the_line_that_fetches():
    assert MIN_STEPS == 10
    (finding,) = found(loader(), use())
    assert (finding.severity, finding.line, finding.source) == (Severity.ERROR, 2, FETCH.source)


@pytest.mark.parametrize(
    "records",
    [
        (loader(shuffle=True), use()),
        (loader(shuffle=None), use()),
        (loader(num_batches=1), use()),
        (loader(num_batches=None), use()),
        (loader(), use(single=9)),
        (loader(), use(trained=9)),
        (loader(), use(single=20)),
    ],
    ids=["random", "unknown order", "one batch", "no length", "few passes", "not trained", "mostly whole passes"],
)
def test_a_loader_is_silent(records):
    assert found(*records) == []


def test_a_slice_that_does_not_move_is_an_error_where_the_input_is_given_its_value():
    (finding,) = found(repeated())
    assert (finding.line, finding.source, finding.module) == (2, "xb = x[:32]", "net")


@pytest.mark.parametrize(("num_steps", "told"), [(9, 0), (10, 1)])
def test_ten_steps_in_a_row_are_needed(num_steps, told):
    assert len(found(repeated(num_steps=num_steps))) == told


@pytest.mark.parametrize(("known", "told"), [(0, 0), (32, 0), (40, 0), (127, 0), (128, 1)])
def test_without_a_loader_the_batch_must_be_a_small_part_of_what_is_at_hand(known, told):
    assert len(found(repeated(known=known))) == told


def test_a_seed_that_is_set_in_the_loop_tells_of_any_batch():
    source = "for i in range(9):\n    torch.manual_seed(0)\n    loss = f(net(torch.randn(4, 2)))\n"
    call = Place(file="<cell>", line=3, source="loss = f(net(torch.randn(4, 2)))")
    (finding,) = found(repeated(known=0, place=call), source=source)
    assert finding.evidence["seeded again at"] == "line 2"
    assert found(repeated(known=0, place=call), source=source.replace("(0)", "(i)")) == []


def test_equal_batches_of_a_loader_in_any_order_are_an_error_unless_it_has_only_one():
    assert len(found(loader(shuffle=True), repeated(source="train"))) == 1
    assert len(found(loader(num_batches=None), repeated(source="train"))) == 1
    assert found(loader(num_batches=1), repeated(source="train", known=10**6)) == []


def test_a_place_in_another_file_is_kept():
    (finding,) = found(repeated(place=Place(file="train.py", line=3, source="out = net(batch)")))
    assert (finding.line, finding.source) == (3, "out = net(batch)")


def of_one_value(*values, same_object=False, low=0.0, **changes):
    run = Run()
    facts = {
        "source": Source.MODEL, "name": "net", "field": "0", "step": 0, "shape": (32, 4), "dtype": "float32",
        "layout": "contiguous", "device": "cpu", "low": 0.0, "high": 0.0, "mean": 0.0, "std": 0.0,
    }  # fmt: skip
    run.records.append(BatchRecord(**facts | changes))
    for step, value in enumerate(values):
        run.frame("batch_low", ("net[0]",)).append(step, (low,))
        run.frame("batch_high", ("net[0]",)).append(step, (value,))
        run.frame("input_repeated", ("net",)).append(step, (0.5 if same_object else 1.0,))
    return list(constant_batch(run))


def test_an_input_of_one_value_is_an_error():
    (finding,) = of_one_value(*[0.0] * 10)
    assert (finding.severity, finding.module) == (Severity.ERROR, "net")


def test_an_input_of_one_value_is_silent_with_few_looks_another_value_one_tensor_or_one_row():
    assert of_one_value(*[0.0] * 9) == []
    assert of_one_value(*[0.0] * 9, 1.0) == []
    assert of_one_value(*[0.0] * 10, same_object=True) == []
    assert of_one_value(*[0.0] * 10, shape=(1, 4)) == []


@pytest.mark.parametrize("changes", [{"source": Source.LOADER}, {"training": False}])
def test_what_a_loader_gives_and_what_is_only_evaluated_is_not_judged_by_its_values(changes):
    assert of_one_value(*[0.0] * 10, **changes) == []


def test_a_model_of_single_numbers_and_numbers_that_are_none_are_silent():
    assert of_one_value(*[0.0] * 10, shape=(32,)) == []
    assert of_one_value(*[math.nan] * 10) == []
    assert of_one_value(*[math.inf] * 10, low=math.inf) == []


def test_a_loader_without_a_pass_is_silent():
    assert found(loader()) == []


def test_a_loader_that_is_not_known_is_silent():
    assert found(repeated(source="other", known=10**6)) == []
    assert found(loader(num_batches=1), repeated(source="other", known=10**6)) == []


def test_few_rows_of_a_model_that_is_evaluated_on_others_may_be_all_that_is_for_training():
    (finding,) = found(repeated(evaluated=320))
    assert (finding.severity, finding.line) == (Severity.INFO, 2)
    (outside,) = found(repeated(evaluated=320, place=Place(file="train.py", line=3, source="out = net(batch)")))
    assert outside.severity == Severity.INFO


@pytest.mark.parametrize(
    ("loop", "severity"),
    [
        ("for i in range(0, 640, 32):\n", Severity.ERROR),
        ("for i in range(640 // 32):\n", Severity.ERROR),
        ("for epoch in range(3):\n  for i in range(9):\n", Severity.ERROR),
        ("for rate in rates:\n  opt = Adam(net.parameters(), rate)\n  for i in range(9):\n", Severity.INFO),
        ("while True:\n", Severity.INFO),
    ],
)
def test_loops_over_parts_of_the_data_say_that_a_batch_was_meant(loop, severity):
    source = loop + "    xb = x[:32]\n    loss = f(net(xb))\n"
    line = source.count("\n")
    place = Place(file="<cell>", line=line, source="loss = f(net(xb))")
    (finding,) = found(repeated(evaluated=320, place=place), source=source)
    assert (finding.severity, finding.line) == (severity, line - 1)


def test_what_a_loader_gives_and_what_a_seed_repeats_is_not_meant():
    assert found(loader(shuffle=True), repeated(source="train", evaluated=320))[0].severity == Severity.ERROR
    source = "for i in range(9):\n    torch.manual_seed(0)\n    loss = f(net(torch.randn(4, 2)))\n"
    assert found(repeated(evaluated=320), source=source)[0].severity == Severity.ERROR
