"""This file is the part of the catalogue that judges distributed runs: each rule asks several ranks."""

from torchmagic.rules.ranks.batchnorm_per_rank import batchnorm_per_rank
from torchmagic.rules.ranks.ddp_unused_parameters import ddp_unused_parameters
from torchmagic.rules.ranks.failed_rank import failed_rank
from torchmagic.rules.ranks.gradients_not_reduced import gradients_not_reduced
from torchmagic.rules.ranks.initial_weights_differ import initial_weights_differ
from torchmagic.rules.ranks.lost_rank import lost_rank
from torchmagic.rules.ranks.no_sync_misuse import no_sync_misuse
from torchmagic.rules.ranks.nonfinite_on_one_rank import nonfinite_on_one_rank
from torchmagic.rules.ranks.replicas_differ import replicas_differ
from torchmagic.rules.ranks.same_data_on_ranks import same_data_on_ranks
from torchmagic.rules.ranks.set_epoch_missing import set_epoch_missing
from torchmagic.rules.ranks.silent_rank import silent_rank
from torchmagic.rules.ranks.straggler import straggler
from torchmagic.rules.ranks.uneven_batches import uneven_batches

RANK_RULES = (
    lost_rank,
    failed_rank,
    silent_rank,
    gradients_not_reduced,
    no_sync_misuse,
    initial_weights_differ,
    replicas_differ,
    ddp_unused_parameters,
    same_data_on_ranks,
    set_epoch_missing,
    uneven_batches,
    batchnorm_per_rank,
    nonfinite_on_one_rank,
    straggler,
)
