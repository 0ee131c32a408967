"""This file is the catalogue: the list of all rules."""

from torchmagic.rules.loss.loss_broadcast import loss_broadcast
from torchmagic.rules.loss.softmax_before_cross_entropy import softmax_before_cross_entropy
from torchmagic.rules.model.dead_relu import dead_relu
from torchmagic.rules.modes.eval_mode_training import eval_mode_training
from torchmagic.rules.numerics.exploding_gradient import exploding_gradient
from torchmagic.rules.numerics.nonfinite_forward import nonfinite_forward
from torchmagic.rules.numerics.nonfinite_gradient import nonfinite_gradient
from torchmagic.rules.numerics.nonfinite_input import nonfinite_input
from torchmagic.rules.parameters.param_not_in_optimizer import param_not_in_optimizer
from torchmagic.rules.rule import Rule
from torchmagic.rules.training_loop.missing_zero_grad import missing_zero_grad

RULES: tuple[Rule, ...] = (
    missing_zero_grad,
    param_not_in_optimizer,
    eval_mode_training,
    softmax_before_cross_entropy,
    loss_broadcast,
    nonfinite_input,
    nonfinite_forward,
    nonfinite_gradient,
    exploding_gradient,
    dead_relu,
)
