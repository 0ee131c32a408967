"""This file is the evaluation: passes over data from which nothing was learned."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRecord:
    """A pass of forwards that no backward followed.

    Args:
        model: Name of the model.
        step: Optimizer steps made before.
        loader: Name of the loader whose batches it got; empty where they came from none.
        num_batches: Calls of the model.
        num_losses: Losses computed on its outputs.
        training: Whether the model was in training mode.
        grad_enabled: Whether gradients were being recorded.
        recorded_graph: Whether an output held a graph that nobody needs, which is memory and time for nothing.
        awake: Paths of dropout and batch norm modules that were in training mode.
        loss_names: Subjects of ``eval_loss`` that this pass gave a value.
        also_trained: Whether an optimizer that has stepped in this run owns parameters of the model.
        trained_on: Whether the loader's dataset object is one whose batches were trained on.
        place: Line that called the model first.
        norms: Paths of those modules among the awake that moved their running statistics.
        alone: Whether the model was in evaluation mode and no part of it was.
        same_input: Whether it began with the very tensor, or a part of it, that the pass of its kind before began with.
    """

    model: str
    step: int
    loader: str
    num_batches: int
    num_losses: int
    training: bool
    grad_enabled: bool
    recorded_graph: bool
    awake: tuple[str, ...]
    loss_names: tuple[str, ...]
    also_trained: bool
    trained_on: bool
    place: Place | None
    norms: tuple[str, ...] = ()
    same_input: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRecord:
    """Where the weights stood, when the run ended, against the best evaluation.

    Args:
        subject: Subject of ``eval_loss``.
        num_passes: Evaluations seen.
        best: Least loss of an evaluation.
        best_step: Optimizer steps made before the best.
        since_best: Evaluations since the best.
        steps_since_best: Optimizer steps made since the best.
        holds_best: Whether the model's weights at the end are those of the best evaluation; None where not known.
    """

    subject: str
    num_passes: int
    best: float
    best_step: int
    since_best: int
    steps_since_best: int
    holds_best: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AwakeDropoutRecord:
    """Dropout was called as a function, and active, inside a module in evaluation mode.

    Args:
        module: Path of the innermost module that it stands in.
        step: Optimizer steps made before the first call.
        function: Name of the function.
        p: Probability of the first call.
        times: Calls.
        also_trained: Whether an optimizer that has stepped owns parameters of the model.
        place: Line of the call.
    """

    module: str
    step: int
    function: str
    p: float
    times: int
    also_trained: bool
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStatisticsRecord:
    """A model that no optimizer steps was evaluated with other weights than before, and the statistics it began with.

    Args:
        model: Name of the model.
        module: Path of the first batch norm whose mean is 0 and whose variance is 1, as before the first batch.
        count: How many of them there are.
        step: Optimizer steps made before the evaluation.
        place: Line that called the model.
    """

    model: str
    module: str
    count: int
    step: int
    place: Place | None
