"""This file tests that exported values are the run's own, to the last bit."""

import csv
import json
import math
from collections import defaultdict

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.session.document import header
from torchmagic.session.run import Run


def of_rows(rows):
    """Return {(run id, metric, subject): (steps, values)}, values as they are written, so that NaN is like NaN."""
    found = defaultdict(lambda: ([], []))
    for run_id, _, metric, subject, step, value in rows:
        steps, values = found[run_id, metric, subject]
        steps.append(int(step))
        values.append(repr(float(value)))
    return found


def of_run(runs):
    """Return the same, asked of the runs."""
    pairs = {(run, frame.metric, name) for run in runs for frame in run.frames for name in frame.subjects}
    found = {(run.id, metric, name): run.series(metric, name=name) for run, metric, name in pairs}
    return {who: (steps, [repr(value) for value in values]) for who, (steps, values) in found.items()}


def test_csv_has_every_value_of_every_run(runs, tmp_path):
    with export(runs, tmp_path / "a.csv").open(newline="") as file:
        names, *rows = csv.reader(file)
    assert names == ["run_id", "run", "metric", "subject", "step", "value"]
    assert of_rows(rows) == of_run(runs)


def test_parquet_has_every_value_and_the_headers(runs, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(export(runs, tmp_path / "a.parquet"))
    assert of_rows(zip(*table.to_pydict().values(), strict=True)) == of_run(runs)
    about = json.loads(table.schema.metadata[b"torchmagic"])
    assert about == {"format": 1, "runs": json.loads(json.dumps([header(run) for run in runs]))}


def test_pandas_reads_both_alike(run, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    text = pandas.read_csv(export(run, tmp_path / "a.csv"), keep_default_na=False)
    typed = pandas.read_parquet(export(run, tmp_path / "a.parquet"))
    assert list(map(float, text.pop("value"))) == pytest.approx(list(typed.pop("value")), rel=0, abs=0, nan_ok=True)
    assert text.to_dict() == typed.to_dict()


def test_values_that_are_not_finite_keep_their_names(hostile, tmp_path):
    with export(hostile, tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        values = [row[-1] for row in csv.reader(file) if row[2] == "loss"]
    assert values == ["1.0", "nan", "inf", "-inf", "0.25"]


def test_a_long_run_is_exported_as_it_was_kept(tmp_path):
    run = Run()
    run.frame("loss", ("a", "b")).max_rows = 64
    for step in range(1000):
        run.frame("loss", ("a", "b")).append(step, (math.sin(step), math.cos(step)))
    with export(run, tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert 64 < len(rows) < 1000
    assert of_rows(rows) == of_run([run])


def test_spreadsheets_find_no_formula(hostile, tmp_path):
    with export(hostile, tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row[:4]]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
