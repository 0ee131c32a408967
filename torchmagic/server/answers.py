"""This file is the answers about runs: what each endpoint sends, field by field."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.responses import Response

from torchmagic.server.plain import Number, Text
from torchmagic.session.status import Status


class Answer(BaseModel):
    """An answer that can be read off an object of ours; numbers that JSON does not know are told by name."""

    model_config = ConfigDict(from_attributes=True, ser_json_inf_nan="strings")


def sent(answer: Answer) -> Response:
    """Return an answer as it is sent, written once; FastAPI would check what is our own and write it in two steps."""
    return Response(answer.model_dump_json(), media_type="application/json")


class Problem(Answer):
    """What was wrong with a request."""

    error: Text = Field(description="One line: what came, what was wanted, what to do.")


class RunLine(Answer):
    """One line of the history."""

    id: Text
    number: int = Field(description="Number in the history, from 1; 0 until it is known.")
    name: Text
    heading: Text = Field(description="Its name, or else the first line of its source that is code.")
    status: Status
    started: Number = Field(description="Seconds since the epoch.")
    seconds: Number = Field(description="Wall time.")
    cost: Number = Field(description="Seconds of it that torchmagic took.")
    steps: int = Field(description="Optimizer steps.")
    errors: int
    warnings: int
    infos: int
    loss: list[Number] = Field(description="At most 60 values of the first loss, evenly over the run.")
    note: Text
    tags: list[Text]
    here: bool = Field(description="Whether it is a run of this process.")
    saved: bool = Field(description="Whether the store holds it.")


class RunList(Answer):
    """Runs, the newest first."""

    total: int = Field(description="Runs that there are.")
    runs: list[RunLine]


class ProgressLine(Answer):
    """Where a run stands that goes on."""

    batch: int
    batches: int | None
    epoch: int
    seconds_per_step: Number | None
    seconds_left: Number | None
    shares: dict[str, Number] = Field(description="Share of the time of each phase; together 1.")


class RunDetail(RunLine):
    """One run: its line, and how it was watched."""

    source: Text
    settings: dict[str, JsonValue]
    progress: ProgressLine | None
    metrics: list[Text] = Field(description="Names of its series.")


class FindingLine(Answer):
    """One diagnosis."""

    rule: Text
    severity: Literal["error", "warning", "info"]
    confidence: Number
    title: Text
    module: Text | None
    parameter: Text | None
    optimizer: Text | None
    line: int | None
    source: Text | None
    step: int | None
    evidence: dict[str, int | Number | Text]
    why: Text
    fix: Text
    causes: list[Text]


class FindingList(Answer):
    """The findings of a run, the most severe and most certain first."""

    run: Text
    findings: list[FindingLine]


class SeriesName(Answer):
    """One metric of a run."""

    metric: Text
    points: int = Field(description="Points of each of its series.")
    num_subjects: int
    subjects: list[Text] = Field(description="Parameters, modules or losses; the first 1,000. Empty: the whole run.")


class SeriesNames(Answer):
    """The metrics of a run."""

    run: Text
    series: list[SeriesName]


class Series(Answer):
    """One metric over the steps of a run."""

    run: Text
    metric: Text
    subject: Text
    steps: list[int] = Field(description="Optimizer steps made before.")
    values: list[Number]
    points: int = Field(description="Points that the run has; more than are sent where they were thinned.")
