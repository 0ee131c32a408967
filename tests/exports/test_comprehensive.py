"""This file tests the comprehensive report: its numbers against the run's own, and its picture."""

import json

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.exports.comprehensive import comprehensive_report
from torchmagic.exports.four_plots import four_plots
from torchmagic.session.run import Run

KEYS = {
    "summary": [
        "total_debug_operations",
        "anomalies_detected",
        "memory_leaks_detected",
        "performance_issues_detected",
        "debug_mode",
        "debug_level",
    ],
    "performance_analysis": ["average_execution_time", "max_execution_time", "min_execution_time"],
    "memory_analysis": ["average_memory_usage", "max_memory_usage", "average_gpu_memory", "max_gpu_memory"],
    "gradient_analysis": ["average_gradient_norm", "max_gradient_norm", "gradient_anomalies"],
}


def test_the_report_has_the_promised_structure(run):
    report = comprehensive_report(run)
    assert list(report) == [*KEYS, "operation_breakdown"]
    assert {name: list(report[name]) for name in KEYS} == KEYS


def test_numbers_are_those_of_the_run(run):
    report = comprehensive_report(run)
    norms = run.series("grad_norm", name="")[1]
    assert report["gradient_analysis"]["max_gradient_norm"] == max(norms)
    assert report["gradient_analysis"]["average_gradient_norm"] == pytest.approx(sum(norms) / len(norms))
    assert report["summary"]["total_debug_operations"] == run.steps == 30
    assert report["summary"]["debug_level"] == "expert"
    assert report["operation_breakdown"]["backward"] == 30
    times = report["performance_analysis"]
    assert 0 < times["min_execution_time"] <= times["max_execution_time"]
    assert times["average_execution_time"] * 30 <= run.clock.seconds
    assert report["memory_analysis"]["max_memory_usage"] == max(run.series("rss_bytes")[1]) / 2**20


def test_findings_are_counted_by_what_they_are_about(hostile):
    summary = comprehensive_report([hostile, hostile])["summary"]
    assert (summary["anomalies_detected"], summary["memory_leaks_detected"]) == (2, 0)


def test_nothing_measured_is_no_number():
    report = comprehensive_report(Run())
    assert report["gradient_analysis"]["average_gradient_norm"] is None
    assert report["operation_breakdown"] == {}


def test_the_picture_shows_each_run_in_each_plot(runs):
    time, memory, norm, found = four_plots(runs)
    assert [plot.title for plot in (time, memory, norm, found)] == [
        "Execution Time",
        "Memory Usage",
        "Gradient Norm",
        "Anomaly Detection",
    ]
    assert len(time.lines) == len(norm.lines) == 2
    assert list(norm.lines[0].values) == runs[0].series("grad_norm", name="")[1]


def test_findings_are_counted_from_the_step_they_held(hostile):
    (line,) = four_plots([hostile])[3].lines
    assert (line.name, list(line.steps), list(line.values)) == ("error", [0, 1, 1, 5], [0, 0, 1, 1])


def test_two_files_are_written(hostile, tmp_path):
    folder = export(hostile, tmp_path / "report", to="report")
    assert sorted(path.name for path in folder.iterdir()) == ["debug_analysis.png", "report.json"]
    assert json.loads((folder / "report.json").read_text()) == comprehensive_report(hostile)
    image = pytest.importorskip("PIL.Image")
    with image.open(folder / "debug_analysis.png") as picture:
        assert picture.width > picture.height > 1000
        assert len(picture.convert("L").getcolors(256)) > 8
