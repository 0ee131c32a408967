"""This file is the cast of a run: the models, parameters, optimizers and loaders that took part."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """A root module that ran: its name in the notebook, class, and size (bytes of parameters and buffers)."""

    name: str
    class_name: str
    num_parameters: int
    num_trainable: int
    num_bytes: int
    compiled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRecord:
    """A parameter of a model: full name, shape, dtype, device, whether it requires a gradient."""

    name: str
    model: str
    module: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    trainable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RectifierRecord:
    """A rectifier whose units are watched: its path, and, when it is a call and no module, the line of the call."""

    module: str
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerRecord:
    """An optimizer that stepped: its name, class, learning rates per group and the parameters it owns."""

    name: str
    class_name: str
    lr: tuple[float, ...]
    parameters: tuple[str, ...]
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderRecord:
    """A DataLoader that was iterated.

    Args:
        name: Its variable, else ``DataLoader``.
        batch_size: Samples a batch; None where a sampler of batches, or nobody, decides.
        num_workers: Worker processes; 0 loads in this process.
        sampler: Class of its sampler.
        num_batches: Batches a pass; None when unknown.
        shuffle: Whether its sampler draws at random; None for a sampler that torch does not know.
        drop_last: Whether an incomplete last batch is left out.
        pin_memory: Whether it asks for page-locked memory.
        persistent_workers: Whether workers outlive a pass.
        prefetch_factor: Batches loaded ahead by each worker; None without workers.
        collate: Name of the function that makes a batch of samples.
        dataset: Class of the dataset.
        num_samples: Length of the dataset; None for a stream.
        dataset_number: Which dataset object it is, counted in order of appearance: equal numbers, same object.
        has_generator: Whether a random generator was given for the order and the workers' seeds.
        worker_init: Name of ``worker_init_fn``; empty without one.
        worker_init_constant: Whether ``worker_init_fn`` does the same in every worker: it reads neither the worker's
            number nor its seed.
        random_read: Attributes of the dataset, and global variables, that hold a random generator, which every worker
            copies, and that are read by code that workers run.
        seeded: Line of the notebook that makes such a generator, or that seeds in ``worker_init_fn``; looked for only
            where the workers may draw the same numbers.
        place: Line that iterates it.
        made: Line that made it, in this run or an earlier cell; None where that is not known.
        made_before: Whether it was made before this run, so that the line is one of another cell.
    """

    name: str
    batch_size: int | None
    num_workers: int
    sampler: str
    num_batches: int | None
    shuffle: bool | None = None
    drop_last: bool = False
    pin_memory: bool = False
    persistent_workers: bool = False
    prefetch_factor: int | None = None
    collate: str = ""
    dataset: str = ""
    num_samples: int | None = None
    dataset_number: int = 0
    has_generator: bool = False
    worker_init: str = ""
    worker_init_constant: bool = False
    random_read: tuple[str, ...] = ()
    seeded: Place | None = None
    place: Place | None = None
    made: Place | None = None
    made_before: bool = False
