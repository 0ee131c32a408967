"""This file makes records of what losses were given, for the tests of the rules that read them."""

from torchmagic.records.loss import LossInputRecord
from torchmagic.records.place import Place
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=7, source="loss = criterion(net(x), y)")


def given(loss, batches=3, *, place=LINE, **facts):
    facts = {"num_classes": 5, "rows": 32, "low": -3.0, "high": 4.0, "sum_error": 2.0, "log_error": 3.0, **facts}
    return [LossInputRecord(step=step, loss=loss, place=place, **facts) for step in range(batches)]


def run_with(*records, source=""):
    run = Run(source=source)
    for each in records:
        run.records += each if isinstance(each, list) else [each]
    return run
