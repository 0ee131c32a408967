"""This file is the feeding: how loaders were used, and what of their batches reached the model."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderUseRecord:
    """How often a loader was gone through in the whole run.

    Args:
        loader: Its name.
        num_passes: Passes begun.
        num_batches: Batches given.
        num_single: Passes that gave one batch before the next pass began, or the run ended.
        num_empty: Passes that ended without a batch.
        num_trained: Batches on which a backward followed.
        place: Line at which most passes began.
    """

    loader: str
    num_passes: int
    num_batches: int
    num_single: int
    num_empty: int
    num_trained: int
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedInputRecord:
    """In steps one after the other a model got the same values, each time in new tensors.

    Args:
        model: Name of the model.
        step: Optimizer steps made before the first of them.
        num_steps: Most steps in a row in which that was seen; there may have been more.
        num_rows: Rows of the first tensor.
        num_known: Rows of the largest tensor or array at hand that has the same columns; 0 where there is none.
        loader: Name of the loader that gave them; empty where none did.
        place: Line that called the model.
        num_evaluated: Most rows of other values that the model was evaluated on; 0 where there were none.
        reseeded: Line that seeds a random generator in the function that made them; None where none does.
    """

    model: str
    step: int
    num_steps: int
    num_rows: int
    num_known: int
    loader: str
    place: Place | None
    num_evaluated: int = 0
    reseeded: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRowsRecord:
    """Rows that were evaluated, compared with those that were trained on.

    Args:
        model: Name of the model.
        loader: Name of the loader that gave the evaluated rows; empty for a tensor.
        num_rows: Rows evaluated that were looked at.
        num_equal: Those of them that equal bit by bit a row known to have been trained on before.
        num_known: Different training rows that are known.
        num_training: Training rows there are; 0 where that is not known.
        coarse: Whether rows hold few different values in few columns, so that some are equal by chance.
        covered: Share of the known training rows that were among the evaluated ones.
        place: Line that called the model.
    """

    model: str
    loader: str
    num_rows: int
    num_equal: int
    num_known: int
    num_training: int
    coarse: bool
    covered: float
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLayerRecord:
    """What the first layer with parameters, embeddings left out, was given by the data.

    Args:
        model: Name of the model.
        module: Path of the layer.
        class_name: Its class.
        step: Optimizer steps made before.
        shape: Shape of what it was given.
        scale: Greatest mean magnitude of one feature; of a convolution's, over the values that are not zero.
        spread: Greatest scale of a feature that varies over the least one's.
        low: Least value looked at.
        high: Greatest value looked at.
        frozen: Whether none of its parameters is trained.
        place: Line that called the model.
        made: Line of the notebook that makes the data, looked for where they are far from normalised.
    """

    model: str
    module: str
    class_name: str
    step: int
    shape: tuple[int, ...]
    scale: float
    spread: float
    low: float
    high: float
    frozen: bool
    place: Place | None
    made: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddingRecord:
    """What share of the indices that an embedding was given is its ``padding_idx``."""

    model: str
    module: str
    step: int
    share: float
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRecord:
    """A line at which a loss written by hand takes a prediction from a target, or the other way round."""

    step: int
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReadsRecord:
    """A line of the user's that reads tensors' values on the host.

    Args:
        num_reads: Reads there, of outputs of a graph or of tensors on an accelerator, over the steps looked at.
        num_steps: Steps looked at.
        methods: Names of the methods, such as ``item``.
        place: The line.
    """

    num_reads: int
    num_steps: int
    methods: tuple[str, ...]
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowModeRecord:
    """A mode of torch's that makes every step slow was on at a look.

    Args:
        step: Optimizer steps made before.
        mode: ``detect_anomaly`` or ``profiler``.
    """

    step: int
    mode: str
