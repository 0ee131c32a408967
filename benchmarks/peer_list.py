"""This file is the list of tools beside torchmagic: what each tells, and with which levels it is compared."""

import importlib
import importlib.metadata
from dataclasses import dataclass

import peer_tools
from peer_tools import Attach


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One tool in one way of using it.

    Args:
        name: Short name, for tables.
        tells: What it tells of every step.
        attach: Puts the tool around a training.
        equals: Levels of torchmagic to compare: the one of equal information first.
        only: Of the first one, the probes that tell as much; all of them where there are none.
        package: Distribution that it comes with.
        module: Module that must be there.
    """

    name: str
    tells: str
    attach: Attach
    equals: tuple[str, ...] = ("expert", "advanced")
    only: tuple[str, ...] = ()
    package: str = "torch"
    module: str = "torch"

    @property
    def watches(self) -> tuple[tuple[str, ...], ...]:
        """The levels to compare, each with the probes that are wanted of it, where not all of them are."""
        first, *others = self.equals
        return (first, *self.only), *((level,) for level in others)

    def absent(self) -> str:
        """Return why the tool cannot be used here; empty when it can."""
        try:
            version = importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return f"{self.package} is not installed"
        try:
            importlib.import_module(self.module)
        except Exception as error:
            return f"{self.package} {version} cannot be used: {error}"
        return ""


PEERS = (
    Peer(
        name="detect_anomaly",
        tells="non-finite gradients, and the forward line of the node",
        equals=("basic", "advanced"),
        attach=peer_tools.detect_anomaly,
    ),
    Peer(
        name="HF DebugUnderflowOverflow",
        tells="non-finite outputs and weights; extremes of inputs, outputs and weights",
        equals=("advanced", "basic"),
        attach=peer_tools.underflow_overflow,
        package="transformers",
        module="transformers.debug_utils",
    ),
    Peer(
        name="torchlens.checks, non-finite",
        tells="non-finite gradients and parameters",
        equals=("basic", "advanced"),
        attach=peer_tools.checks(every_fact=False),
        package="torchlens",
        module="torchlens.checks",
    ),
    Peer(
        name="torchlens.checks, all",
        tells="the same, gradient norms, update ratios, parameters without a gradient",
        attach=peer_tools.checks(every_fact=True),
        package="torchlens",
        module="torchlens.checks",
    ),
    Peer(
        name="wandb.watch all, every step",
        tells="histograms of gradients and parameters, written offline",
        attach=peer_tools.wandb_watch,
        package="wandb",
        module="wandb",
    ),
    Peer(
        name="TensorBoard histograms",
        tells="histograms of gradients, written to a file",
        attach=peer_tools.histograms,
        package="tensorboard",
        module="torch.utils.tensorboard",
    ),
    Peer(
        name="torch-audit",
        tells="non-finite parameters and gradients, gradient norm, dead units, odd batches",
        only=("anomaly", "gradients", "activations"),
        attach=peer_tools.torch_audit,
        package="torch-audit",
        module="torch_audit",
    ),
    Peer(
        name="monitorch",
        tells="norms of outputs and parameters, gradients and updates, dead units",
        attach=peer_tools.monitorch,
        package="monitorch",
        module="monitorch.lens",
    ),
    Peer(
        name="torch-module-monitor",
        tells="mean and std of outputs, norms of parameters and gradients",
        only=("gradients", "weights", "activations"),
        attach=peer_tools.module_monitor,
        package="torch-module-monitor",
        module="torch_module_monitor",
    ),
)
