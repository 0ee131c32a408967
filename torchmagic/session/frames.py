"""This file finds the frame that a row belongs to, so that few frames hold the rows of ever other subjects."""

from collections.abc import MutableMapping

from torchmagic.records.series import Frame, share_room

# A model whose layers change from step to step would begin a frame with each step; from so many frames of a metric on,
# one that has the subjects of all takes its rows.
MOST_FRAMES = 16


def frame_for(newest: MutableMapping[str, Frame], frames: list[Frame], metric: str, subjects: tuple[str, ...]) -> Frame:
    """Return the frame for a row, a new one where there is none.

    Args:
        newest: The frame of each metric that the row before belonged to; brought up to date.
        frames: All frames of the run; a new one is added.
        metric: Name of the metric.
        subjects: The row's subjects.

    Returns:
        A frame of these subjects, or, of a metric with many, one that has them among its own.
    """
    known = newest.get(metric)
    if known is not None and known.subjects == subjects:
        return known
    alike = [frame for frame in frames if frame.metric == metric]
    found = next((frame for frame in alike if frame.subjects == subjects), None)
    if found is None and len(alike) >= MOST_FRAMES and len(subjects) > 1:
        found = next((frame for frame in reversed(alike) if set(subjects) <= set(frame.subjects)), None)
        if found is None:
            subjects = tuple(dict.fromkeys([*(name for frame in alike for name in frame.subjects), *subjects]))
    if found is None:
        found = Frame(metric, subjects)
        frames.append(found)
        share_room(frames)
    newest[metric] = found
    return found
