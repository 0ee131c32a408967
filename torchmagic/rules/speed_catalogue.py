"""This file is the part of the catalogue that judges what makes steps slow: a profile, or a run itself."""

from torchmagic.rules.rule import Rule
from torchmagic.rules.speed.double_precision import double_precision
from torchmagic.rules.speed.evaluation_graph import evaluation_graph
from torchmagic.rules.speed.graph_breaks import graph_breaks
from torchmagic.rules.speed.host_reads import host_reads
from torchmagic.rules.speed.input_gradient import input_gradient
from torchmagic.rules.speed.layout_copies import layout_copies
from torchmagic.rules.speed.many_small_operators import many_small_operators
from torchmagic.rules.speed.missing_channels_last import missing_channels_last
from torchmagic.rules.speed.missing_mixed_precision import missing_mixed_precision
from torchmagic.rules.speed.optimizer_loop import optimizer_loop
from torchmagic.rules.speed.python_loop import python_loop
from torchmagic.rules.speed.recompiles import recompiles
from torchmagic.rules.speed.repeated_host_device_copies import repeated_host_device_copies
from torchmagic.rules.speed.restarted_workers import restarted_workers
from torchmagic.rules.speed.slow_line import slow_line
from torchmagic.rules.speed.slow_loading import slow_loading
from torchmagic.rules.speed.slow_transfer import slow_transfer
from torchmagic.rules.speed.small_batch import small_batch
from torchmagic.rules.speed.thread_oversubscription import thread_oversubscription
from torchmagic.rules.speed.unused_cores import unused_cores
from torchmagic.rules.speed.zeroed_gradients import zeroed_gradients

SPEED_RULES: tuple[Rule, ...] = (
    slow_loading,
    restarted_workers,
    host_reads,
    python_loop,
    slow_line,
    small_batch,
    missing_channels_last,
    missing_mixed_precision,
    many_small_operators,
    double_precision,
    layout_copies,
    slow_transfer,
    repeated_host_device_copies,
    thread_oversubscription,
    unused_cores,
    optimizer_loop,
    zeroed_gradients,
    input_gradient,
    evaluation_graph,
    recompiles,
    graph_breaks,
)
