"""This file is the ranks: who each process of a distributed run is, and what it shared with the others.

Each rank records these of itself; none of them tells of another rank. Whoever compares ranks reads them side by side,
through ``run.ranks``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from torchmagic.records.place import Place


class Wrapping(StrEnum):
    """What keeps the copies of a model, or its parts, together over the ranks."""

    NONE = "none"  # the ranks train models that nothing of torch's connects
    DDP = "ddp"
    FSDP = "fsdp"
    FSDP2 = "fsdp2"


class Checked(StrEnum):
    """Of what a checksum was taken."""

    WEIGHT = "weight"
    BUFFER = "buffer"
    GRADIENT = "gradient"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRecord:
    """Which rank of which launch this run is; every run of a rank has one, and no other run has any.

    Args:
        launch: Id that all ranks of one launch share; ids sort by the time of the launch.
        sequence: Watched runs that this process had made in this launch before this one: runs of the same number
            belong together.
        rank: From 0.
        world_size: How many ranks there are.
        local_rank: Number among the ranks of this host; -1 where nobody tells.
        num_local: Ranks of this host; 0 where nobody tells.
        host: Name of the machine.
        pid: The process.
        backend: Of the default group, such as ``gloo``, ``nccl`` or ``cpu:gloo,cuda:nccl``.
        device: The device that is current, or ``cpu``.
        launcher: ``torchrun``, ``accelerate``, ``processes`` (started by ``torch.multiprocessing``, as
            ``notebook_launcher`` does), ``ipyparallel``, or empty.
        wall: Seconds since the epoch as this record was made; hosts' clocks may differ.
        monotonic: The process's monotonic clock at the same moment, in seconds.
    """

    launch: str
    sequence: int
    rank: int
    world_size: int
    local_rank: int
    num_local: int
    host: str
    pid: int
    backend: str
    device: str
    launcher: str
    wall: float
    monotonic: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRecord:
    """A run that is no rank itself started ranks, as a cell with ``notebook_launcher`` does.

    Args:
        launch: Id of the launch, as the ranks' ``RankRecord`` has it.
        num_processes: How many were started.
        place: Line that started them.
    """

    launch: str
    num_processes: int
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapRecord:
    """How a model that runs on several ranks is wrapped; once a model.

    Args:
        model: Name of the model.
        wrapper: What keeps its copies or parts together.
        num_parameters: Parameter tensors that require a gradient.
        ignored: Names of parameters, requiring a gradient, that the wrapper was told never to reduce.
        find_unused_parameters: DDP's option; None for other wrappers.
        static_graph: DDP's option; None for other wrappers.
        broadcast_buffers: DDP's option: whether rank 0's buffers are sent to all before a forward; None for others.
        num_batch_norms: Batch norms that take statistics of this rank's rows alone.
        num_synced_batch_norms: ``SyncBatchNorm`` modules.
        num_shards: Ranks over which parameters are split; 1 where each rank has them whole.
        place: Line that called the model first.
    """

    model: str
    wrapper: Wrapping
    num_parameters: int
    ignored: tuple[str, ...]
    find_unused_parameters: bool | None
    static_graph: bool | None
    broadcast_buffers: bool | None
    num_batch_norms: int
    num_synced_batch_norms: int
    num_shards: int
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutGradientRecord:
    """At a step, parameters of a wrapped model that require a gradient had none; written when the set is new.

    DDP's ``find_unused_parameters`` finds those that the graph does not reach; without it the next forward raises.

    Args:
        model: Name of the model.
        step: Optimizer steps made before.
        parameters: Their names, at most 64.
        num_parameters: How many there are.
    """

    model: str
    step: int
    parameters: tuple[str, ...]
    num_parameters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksumRecord:
    """Checksums of a model's tensors, bit by bit: equal ones mean equal bits, different ones different bits.

    All ranks take them at the same steps, by no other rule than the number of the step. They are taken just before the
    optimizer steps: of weights and buffers as ``step`` steps have left them (0: the initial ones), and of the gradients
    that the step is about to use, after they were reduced and clipped. The last ones are taken as the run ends.

    Args:
        step: Optimizer steps made before.
        model: Name of the model.
        what: Of what they are.
        whole: Checksum of all, in the order of their names; of tensors that are whole on each rank only.
        digests: Checksum of each tensor, eight hexadecimal digits, by its name; empty from some number of records on
            (``whole`` goes on), but never of the last one.
        shards: Names of tensors of which this rank has a part, so that they are not in ``digests``.
        skipped: Names of tensors that could not be read, or have no gradient.
        last: Whether the run was ending.
    """

    step: int
    model: str
    what: Checked
    whole: str
    digests: Mapping[str, str]
    shards: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderPassRecord:
    """One pass of this rank over a loader: which batches it was given; of the first 64 passes.

    Args:
        loader: Name of the loader, as in ``LoaderRecord``.
        number: Which pass it is, from 0.
        step: Optimizer steps made before it began.
        num_batches: Batches given.
        num_trained: Batches on which a backward followed.
        finished: Whether the loader came to its end.
        batch_size: Samples a batch; None where the loader does not tell.
        num_samples: Length of the dataset; None for a stream.
        num_expected: Batches that a whole pass has; None where the loader does not tell.
        samplers: Classes of the sampler and of those inside it, the outermost first.
        sharded: Whether one of these gives each rank its own part; None where that cannot be told.
        replicas: Among how many ranks it splits; 0 where it does not, or does not tell.
        replica: As which rank it was set up; -1 where it does not, or does not tell.
        shuffle: Whether it draws at random; None where that is not known.
        epoch: What ``set_epoch`` of the sampler was told last, 0 before the first time; None for one without.
        indices: Digests of the dataset's indices of the first 64 batches; empty where the loader does not tell.
        contents: Digests of the values of the first 8 batches (their first tensor).
    """

    loader: str
    number: int
    step: int
    num_batches: int
    num_trained: int
    finished: bool
    batch_size: int | None
    num_samples: int | None
    num_expected: int | None
    samplers: tuple[str, ...]
    sharded: bool | None
    replicas: int
    replica: int
    shuffle: bool | None
    epoch: int | None
    indices: tuple[str, ...]
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomStateRecord:
    """Where the random generators of this process stood: equal digests mean that the same numbers come next.

    Args:
        moment: ``start``, as the rank was known, or ``first forward``.
        seed: What torch's generator was seeded with last.
        torch: Digest of its state.
        numpy: Digest of the state of numpy's global generator.
        python: Digest of the state of the module ``random``.
        device: Digest of the state of the current accelerator's generator; empty where there is none.
    """

    moment: str
    seed: int
    torch: str
    numpy: str
    python: str
    device: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveRecord:
    """One function of ``torch.distributed`` at one line, over the whole run; written as the run ends.

    What DDP exchanges inside torch's own engine is not among these: see the series ``sync_wait``.

    Args:
        function: Its name, such as ``all_reduce``.
        count: How often it was called.
        seconds: Seconds that the calling thread spent in it and in waiting for it.
        longest: Longest of these calls, in seconds.
        longest_step: Optimizer steps made before that one.
        num_bytes: Bytes of the tensors that this rank handed over, all calls together.
        place: Line that called it; torch's own calls, such as those of FSDP, have none.
    """

    function: str
    count: int
    seconds: float
    longest: float
    longest_step: int
    num_bytes: int
    place: Place | None
