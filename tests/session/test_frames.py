"""This file tests that rows of ever other subjects end in few frames, and none of them is lost."""

import math

from torchmagic.session.frames import MOST_FRAMES
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run

NAMES = tuple(f"layer{i}" for i in range(8))


def subjects_of(step):
    """Return other layers each step, as a model does that leaves some out."""
    return tuple(name for i, name in enumerate(NAMES) if (step >> i) & 1) or NAMES


def test_a_model_whose_layers_change_each_step_needs_few_frames_and_loses_no_row():
    run = Run()
    recorder = Recorder(run)
    for step in range(200):
        names = subjects_of(step)
        recorder.append("activation_mean", [float(step)] * len(names), names)
        recorder.count_step()
    assert len(run.frames) <= MOST_FRAMES + len(NAMES)
    for name in NAMES:
        steps, values = run.series("activation_mean", module=name)
        seen = {step: value for step, value in zip(steps, values, strict=True) if not math.isnan(value)}
        assert seen == {step: float(step) for step in range(200) if name in subjects_of(step)}


def test_two_subjects_that_take_turns_keep_a_frame_each():
    run = Run()
    recorder = Recorder(run)
    for step in range(40):
        recorder.append("loss", (float(step),), ("generator" if step % 2 else "judge",))
        recorder.count_step()
    assert [(frame.subjects, len(frame)) for frame in run.frames] == [(("judge",), 20), (("generator",), 20)]
