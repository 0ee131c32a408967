"""This file is the connection: what gradients reached and did not reach, and which tensors nobody registered."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientFlowRecord:
    """What an optimizer that stepped had of gradients until the run ended.

    Args:
        optimizer: Name of the optimizer.
        steps: Its steps, as long as one of its parameters had no gradient yet, and at least those of the start.
        num_trainable: Its parameters that require a gradient.
        num_received: Those of them that had a gradient at some time.
        frozen: Its parameters that require none; names are bounded, the number is not.
        num_frozen: How many these are.
        groups: Parameter groups that hold them.
        twin: Model whose parameters have the shapes of this optimizer's, get gradients, and belong to no optimizer; or
            the variable that held its tensor, and holds another by now of which that is true.
        num_backwards: Backward passes of the run that ended without an exception.
        place: Line of its first step.
        idle: Steps of the run, up to the last look, in which no gradient came any more while ``twin`` had its own: each
            was none, zero, or as a look before had found it.
        idle_since: The first of them.
        twin_is_tensor: Whether ``twin`` is such a variable.
    """

    optimizer: str
    steps: int
    num_trainable: int
    num_received: int
    frozen: tuple[str, ...]
    num_frozen: int
    groups: tuple[int, ...]
    twin: str
    num_backwards: int
    place: Place | None
    idle: int = 0
    idle_since: int = 0
    twin_is_tensor: bool = False


# What an ``UnreachedRecord`` says of a part whose results nobody takes.
DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreachedRecord:
    """A part of a model, or a tensor of an optimizer, that never had a gradient.

    Args:
        optimizer: Name of the optimizer that owns it and stepped.
        module: Path of the largest module all of whose trainable parameters are such, else of the module that holds
            them; empty for a tensor of no module.
        whole: Whether all trainable parameters of that module are such.
        parameters: Their names, bounded.
        num_parameters: How many these are.
        steps: Steps of the optimizer since they were first seen.
        executed: Training forwards, of those that were followed, in which the module or a part of it ran.
        changed: Whether a value changed all the same.
        stepped_before: Whether the optimizer holds a state for one of them, from an earlier cell.
        varies: Whether parts beside it got their first gradient later than others: the model chooses its parts.
        cut: Line that takes the module's result out of the graph, where the source shows one.
        how: What that line does; ``DROPPED`` where all code that calls it gives the result to ``_``.
        sure: Whether the source shows the module's result on its way to that line.
        of_library: Whether it is for a library's forward to use the part: no line of the user's does, or fails to.
    """

    optimizer: str
    module: str
    whole: bool
    parameters: tuple[str, ...]
    num_parameters: int
    steps: int
    executed: int
    changed: bool
    stepped_before: bool
    varies: bool
    cut: Place | None
    how: str
    sure: bool = True
    of_library: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DetachedLossRecord:
    """No backward of the run gave a gradient to any parameter of an optimizer or of a model.

    Args:
        loss: Name of the loss.
        backward: Line of the last backward.
        num_backwards: Backward passes that ended without an exception.
        raised: Whether the last one raised because the loss has no graph.
        owned: Trainable parameters that an optimizer holds, or, before its first step, that models hold which ran.
        connected: Models that ran with gradients on and gave an output with a graph.
        ran: Models that ran with gradients on.
        cut: Line that takes the result out of the graph, where the source shows one.
        how: What that line does; ``no_grad`` where gradients are switched off.
        made: Line that makes the loss.
        again: What makes a tensor again of what was taken out there.
        beside: Names of optimizers that did not step and hold what is trained, of this cell or another.
    """

    loss: str
    backward: Place | None
    num_backwards: int
    raised: bool
    owned: int
    connected: tuple[str, ...]
    ran: tuple[str, ...]
    cut: Place | None
    how: str
    made: Place | None
    again: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisteredRecord:
    """A module uses trainable tensors in its forward that are not among its ``parameters()``.

    Args:
        module: Path of the module that holds them.
        attribute: Name of its attribute; empty where its class's ``forward`` takes them from the code around it.
        container: What they are held in: ``list``, ``dict``, ``tuple``, or the class of the attribute itself.
        class_name: Class of the first module or tensor in it.
        num_parameters: Tensors of this attribute that a loss reached, or, where nothing ran, that it holds.
        owned: How many of them an optimizer holds.
        registered: How many of them belong to another model as well.
        changed: Whether a value changed although no optimizer holds it.
        looks: Backward passes that reached them.
        place: Line that makes the attribute.
        variable: Name under which a function in the attribute, or ``forward``, keeps them; empty where none does.
    """

    module: str
    attribute: str
    container: str
    class_name: str
    num_parameters: int
    owned: int
    registered: int
    changed: bool
    looks: int
    place: Place | None
    variable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeInForwardRecord:
    """Modules with trainable parameters were made inside a forward, and a loss reached these.

    Args:
        model: Name of the model whose forward it was; its class where it has no name.
        class_name: Class of the new modules.
        num_calls: Steps in whose forwards it happened.
        step: Optimizer steps made before the first.
        place: Line that makes them.
    """

    model: str
    class_name: str
    num_calls: int
    step: int
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenOutputRecord:
    """Every way from a loss to what trains leads through one module whose parameters are frozen.

    Args:
        module: Path of the module.
        class_name: Its class.
        num_parameters: Its parameters.
        untrained: Whether its values are those with which such a layer begins.
        num_training: Parameters of the same model that the loss reaches.
        step: Optimizer steps made before.
        place: Line that calls ``backward``.
    """

    module: str
    class_name: str
    num_parameters: int
    untrained: bool
    num_training: int
    step: int
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReusedGradientsRecord:
    """A step used gradients that another step had used, with no backward and no change in between.

    Args:
        optimizer: Name of the optimizer.
        earlier: Name of the optimizer that used them before; the same where it stepped twice.
        same: Whether it is the same optimizer.
        step: The later step.
        parameters: Names of parameters that moved twice, bounded.
        num_shared: Parameters that both optimizers hold.
        num_pairs: How often it has happened by now.
        place: Line of the later step.
        earlier_place: Line of the earlier one.
        made_before: Whether no backward has run in the run by then: the gradients come from before it.
    """

    optimizer: str
    earlier: str
    same: bool
    step: int
    parameters: tuple[str, ...]
    num_shared: int
    num_pairs: int
    place: Place | None
    earlier_place: Place | None
    made_before: bool = False
