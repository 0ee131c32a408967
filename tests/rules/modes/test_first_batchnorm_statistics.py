"""This file tests the rule on averages whose batch norms are as they began, on records written by hand."""

from torchmagic.records.evaluation import FirstStatisticsRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.modes.first_batchnorm_statistics import first_batchnorm_statistics
from torchmagic.session.run import Run


def found(count=1):
    run = Run(source="")
    place = Place(file="<cell>", line=4, source="ema(x)")
    record = FirstStatisticsRecord(model="ema", module="ema.1", count=count, step=40, place=place)
    run.records.append(record)
    return list(first_batchnorm_statistics(run))


def test_it_is_told_where_the_average_is_evaluated():
    (finding,) = found()
    assert (finding.severity, finding.line, finding.module, finding.step) == (Severity.WARNING, 4, "ema.1", 40)
    assert finding.title == "ema is evaluated with the mean 0 and variance 1 that ema.1 began with"
    assert "ema.buffers()" in finding.fix


def test_others_like_it_are_counted():
    (finding,) = found(count=3)
    assert finding.title.endswith("that ema.1 and 2 more began with")
