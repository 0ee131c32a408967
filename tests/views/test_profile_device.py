"""This file tests the page of a profile's accelerator, on records written by hand."""

from profile_runs import mlp_run, place

from torchmagic.records.accelerator import AcceleratorRecord, KernelCost, LaunchGap, MemorySegments, StreamUse
from torchmagic.session.run import Run
from torchmagic.views.profile_device import profile_device_page
from torchmagic.views.profile_pages import profile_pages
from torchmagic.views.skins.html import as_html
from torchmagic.views.skins.text import as_text

MIB = 1 << 20


def device_run(**changes):
    run = mlp_run()
    seconds = next(each.seconds for each in run.records if type(each).__name__ == "ProfileRecord")
    facts = {
        "kernels": 2000, "short": 500, "busy": 0.5 * seconds, "together": 0.1 * seconds, "idle": 0.25 * seconds,
        "dearest": (KernelCost(name="gemm<float>", calls=400, seconds=0.4 * seconds, operator="aten::mm"),),
        "streams": (
            StreamUse(stream=7, kernels=1900, seconds=0.5 * seconds),
            StreamUse(stream=20, kernels=100, seconds=0.1 * seconds),
        ),
        "gaps": (
            LaunchGap(place=place("loss.item()", 1), phase="other", count=20, seconds=0.2 * seconds, longest=0.004),
            LaunchGap(place=None, phase="backward", count=3, seconds=0.05 * seconds, longest=0.001),
        ),
        "memory": MemorySegments(
            segments=3, reserved=64 * MIB, allocated=40 * MIB, freed=2 * MIB, largest_free=8 * MIB
        ),
    }  # fmt: skip
    run.records.append(AcceleratorRecord(**facts | changes))
    return run


def test_kernels_waits_streams_and_memory_are_told():
    text = as_text(profile_device_page(device_run()))
    for said in (
        "Kernels run in 50% of the time; between them, 25% of the time, the device waits for the next",
        "100 per step, 25% of them shorter than 10 µs",
        "64 MiB reserved in 3 pieces, 40 MiB of it in use, 2 MiB wait to be freed; the largest free part has 8 MiB",
        "aten::mm",
        "loss.item()",
        "Streams",
    ):
        assert said in " ".join(text.split()), said


def test_names_of_kernels_are_escaped():
    assert "gemm&lt;float&gt;" in as_html(profile_device_page(device_run()))


def test_one_stream_without_gaps_and_memory_has_no_such_tables():
    run = device_run(streams=(StreamUse(stream=7, kernels=2000, seconds=0.1),), gaps=(), together=0.0, memory=None)
    text = as_text(profile_device_page(run))
    assert "Streams" not in text
    assert "waited" not in text
    assert "at once" not in text
    assert "memory" not in text


def test_without_an_accelerator_there_is_no_such_page():
    assert not profile_device_page(mlp_run()).blocks
    assert not profile_device_page(Run()).blocks
    assert "Device" not in [page.title for page in profile_pages(mlp_run())]
    assert "Device" in [page.title for page in profile_pages(device_run())]
