"""This file is the catalogue: the list of all rules."""

from torchmagic.rules.crashes.api_misuse import api_misuse
from torchmagic.rules.crashes.device_mismatch import device_mismatch
from torchmagic.rules.crashes.dtype_mismatch import dtype_mismatch
from torchmagic.rules.crashes.inplace_autograd_error import inplace_autograd_error
from torchmagic.rules.crashes.out_of_memory import out_of_memory
from torchmagic.rules.crashes.shape_mismatch import shape_mismatch
from torchmagic.rules.curves.initial_loss import initial_loss
from torchmagic.rules.curves.loss_not_decreasing import loss_not_decreasing
from torchmagic.rules.curves.loss_spike import loss_spike
from torchmagic.rules.curves.overfitting import overfitting
from torchmagic.rules.curves.plateau import plateau
from torchmagic.rules.data.class_imbalance import class_imbalance
from torchmagic.rules.data.constant_batch import constant_batch
from torchmagic.rules.data.data_bound import data_bound
from torchmagic.rules.data.duplicated_worker_seed import duplicated_worker_seed
from torchmagic.rules.data.empty_loader import empty_loader
from torchmagic.rules.data.image_layout import image_layout
from torchmagic.rules.data.input_not_normalised import input_not_normalised
from torchmagic.rules.data.padding_dominates import padding_dominates
from torchmagic.rules.data.sync_in_loop import sync_in_loop
from torchmagic.rules.data.target_not_normalised import target_not_normalised
from torchmagic.rules.data.train_test_overlap import train_test_overlap
from torchmagic.rules.data.unshuffled_loader import unshuffled_loader
from torchmagic.rules.learning_rate.lr_too_high import lr_too_high
from torchmagic.rules.learning_rate.lr_zero import lr_zero
from torchmagic.rules.learning_rate.scheduler_before_optimizer import scheduler_before_optimizer
from torchmagic.rules.learning_rate.scheduler_mode import scheduler_mode
from torchmagic.rules.learning_rate.scheduler_not_stepped import scheduler_not_stepped
from torchmagic.rules.learning_rate.scheduler_step_frequency import scheduler_step_frequency
from torchmagic.rules.learning_rate.update_too_large import update_too_large
from torchmagic.rules.learning_rate.update_too_small import update_too_small
from torchmagic.rules.loss.all_targets_ignored import all_targets_ignored
from torchmagic.rules.loss.bce_on_logits import bce_on_logits
from torchmagic.rules.loss.degenerate_logits import degenerate_logits
from torchmagic.rules.loss.index_out_of_range import index_out_of_range
from torchmagic.rules.loss.label_out_of_range import label_out_of_range
from torchmagic.rules.loss.loss_broadcast import loss_broadcast
from torchmagic.rules.loss.not_log_probabilities import not_log_probabilities
from torchmagic.rules.loss.output_as_target import output_as_target
from torchmagic.rules.loss.output_range_mismatch import output_range_mismatch
from torchmagic.rules.loss.sigmoid_before_bce_with_logits import sigmoid_before_bce_with_logits
from torchmagic.rules.loss.softmax_before_cross_entropy import softmax_before_cross_entropy
from torchmagic.rules.loss.target_with_graph import target_with_graph
from torchmagic.rules.loss.wrong_dim_softmax import wrong_dim_softmax
from torchmagic.rules.model.batch_mixing import batch_mixing
from torchmagic.rules.model.batchnorm_batch_one import batchnorm_batch_one
from torchmagic.rules.model.dead_relu import dead_relu
from torchmagic.rules.model.dropout_before_loss import dropout_before_loss
from torchmagic.rules.model.dtype_float64 import dtype_float64
from torchmagic.rules.model.missing_activation import missing_activation
from torchmagic.rules.model.missing_causal_mask import missing_causal_mask
from torchmagic.rules.model.poor_init_scale import poor_init_scale
from torchmagic.rules.model.saturated_activation import saturated_activation
from torchmagic.rules.model.symmetric_init import symmetric_init
from torchmagic.rules.model.uniform_prediction import uniform_prediction
from torchmagic.rules.model.zero_init import zero_init
from torchmagic.rules.modes.batchnorm_extra_forward import batchnorm_extra_forward
from torchmagic.rules.modes.eval_mode_training import eval_mode_training
from torchmagic.rules.modes.first_batchnorm_statistics import first_batchnorm_statistics
from torchmagic.rules.modes.functional_dropout_in_eval import functional_dropout_in_eval
from torchmagic.rules.modes.no_grad_evaluation_missing import no_grad_evaluation_missing
from torchmagic.rules.modes.train_mode_evaluation import train_mode_evaluation
from torchmagic.rules.notebook.continued_training import continued_training
from torchmagic.rules.notebook.global_mode_left import global_mode_left
from torchmagic.rules.notebook.held_by_output import held_by_output
from torchmagic.rules.notebook.held_by_traceback import held_by_traceback
from torchmagic.rules.notebook.hooks_piling_up import hooks_piling_up
from torchmagic.rules.notebook.inference_in_training_mode import inference_in_training_mode
from torchmagic.rules.notebook.leftover_gradients import leftover_gradients
from torchmagic.rules.numerics.amp_overflow_skips import amp_overflow_skips
from torchmagic.rules.numerics.clip_before_unscale import clip_before_unscale
from torchmagic.rules.numerics.clip_saturation import clip_saturation
from torchmagic.rules.numerics.exploding_gradient import exploding_gradient
from torchmagic.rules.numerics.fp16_headroom import fp16_headroom
from torchmagic.rules.numerics.nonfinite_forward import nonfinite_forward
from torchmagic.rules.numerics.nonfinite_gradient import nonfinite_gradient
from torchmagic.rules.numerics.nonfinite_input import nonfinite_input
from torchmagic.rules.numerics.swallowed_update import swallowed_update
from torchmagic.rules.numerics.unscaled_step import unscaled_step
from torchmagic.rules.numerics.vanishing_gradient import vanishing_gradient
from torchmagic.rules.numerics.zero_gradient import zero_gradient
from torchmagic.rules.parameters.aliased_state_dict import aliased_state_dict
from torchmagic.rules.parameters.ascending_loss import ascending_loss
from torchmagic.rules.parameters.frozen_in_optimizer import frozen_in_optimizer
from torchmagic.rules.parameters.frozen_output_layer import frozen_output_layer
from torchmagic.rules.parameters.module_created_in_forward import module_created_in_forward
from torchmagic.rules.parameters.param_not_in_optimizer import param_not_in_optimizer
from torchmagic.rules.parameters.params_unchanged import params_unchanged
from torchmagic.rules.parameters.shared_parameter_optimizers import shared_parameter_optimizers
from torchmagic.rules.parameters.stale_optimizer import stale_optimizer
from torchmagic.rules.parameters.unregistered_parameter import unregistered_parameter
from torchmagic.rules.parameters.unused_parameter import unused_parameter
from torchmagic.rules.parameters.weight_decay_dominates import weight_decay_dominates
from torchmagic.rules.performance.anomaly_left_on import anomaly_left_on
from torchmagic.rules.performance.worker_oversubscription import worker_oversubscription
from torchmagic.rules.rank_catalogue import RANK_RULES
from torchmagic.rules.rule import Rule
from torchmagic.rules.speed_catalogue import SPEED_RULES
from torchmagic.rules.training_loop.backward_missing import backward_missing
from torchmagic.rules.training_loop.backward_twice import backward_twice
from torchmagic.rules.training_loop.clip_ineffective import clip_ineffective
from torchmagic.rules.training_loop.derivative_without_graph import derivative_without_graph
from torchmagic.rules.training_loop.detached_loss import detached_loss
from torchmagic.rules.training_loop.detached_subgraph import detached_subgraph
from torchmagic.rules.training_loop.double_step import double_step
from torchmagic.rules.training_loop.grad_accumulation_unscaled import grad_accumulation_unscaled
from torchmagic.rules.training_loop.missing_zero_grad import missing_zero_grad
from torchmagic.rules.training_loop.model_recreated import model_recreated
from torchmagic.rules.training_loop.no_grad_training import no_grad_training
from torchmagic.rules.training_loop.optimizer_recreated import optimizer_recreated
from torchmagic.rules.training_loop.retained_graph_leak import retained_graph_leak
from torchmagic.rules.training_loop.step_missing import step_missing
from torchmagic.rules.training_loop.zero_grad_after_backward import zero_grad_after_backward

RULES: tuple[Rule, ...] = (
    missing_zero_grad,
    zero_grad_after_backward,
    backward_missing,
    step_missing,
    clip_ineffective,
    grad_accumulation_unscaled,
    optimizer_recreated,
    model_recreated,
    retained_graph_leak,
    detached_loss,
    detached_subgraph,
    derivative_without_graph,
    double_step,
    aliased_state_dict,
    unregistered_parameter,
    module_created_in_forward,
    stale_optimizer,
    param_not_in_optimizer,
    unused_parameter,
    frozen_output_layer,
    frozen_in_optimizer,
    shared_parameter_optimizers,
    eval_mode_training,
    softmax_before_cross_entropy,
    loss_broadcast,
    all_targets_ignored,
    bce_on_logits,
    degenerate_logits,
    target_with_graph,
    output_as_target,
    not_log_probabilities,
    output_range_mismatch,
    sigmoid_before_bce_with_logits,
    wrong_dim_softmax,
    batchnorm_extra_forward,
    first_batchnorm_statistics,
    functional_dropout_in_eval,
    no_grad_evaluation_missing,
    train_mode_evaluation,
    nonfinite_input,
    nonfinite_forward,
    nonfinite_gradient,
    exploding_gradient,
    dead_relu,
    vanishing_gradient,
    zero_gradient,
    unscaled_step,
    fp16_headroom,
    clip_before_unscale,
    amp_overflow_skips,
    zero_init,
    uniform_prediction,
    symmetric_init,
    saturated_activation,
    poor_init_scale,
    missing_activation,
    dtype_float64,
    batchnorm_batch_one,
    batch_mixing,
    missing_causal_mask,
    dropout_before_loss,
    continued_training,
    global_mode_left,
    held_by_output,
    held_by_traceback,
    hooks_piling_up,
    inference_in_training_mode,
    leftover_gradients,
    shape_mismatch,
    dtype_mismatch,
    api_misuse,
    device_mismatch,
    inplace_autograd_error,
    backward_twice,
    no_grad_training,
    label_out_of_range,
    index_out_of_range,
    out_of_memory,
    constant_batch,
    data_bound,
    duplicated_worker_seed,
    empty_loader,
    input_not_normalised,
    sync_in_loop,
    target_not_normalised,
    train_test_overlap,
    unshuffled_loader,
    class_imbalance,
    image_layout,
    padding_dominates,
    anomaly_left_on,
    worker_oversubscription,
    *SPEED_RULES,
    initial_loss,
    loss_not_decreasing,
    loss_spike,
    overfitting,
    plateau,
    lr_too_high,
    lr_zero,
    scheduler_before_optimizer,
    scheduler_mode,
    scheduler_not_stepped,
    scheduler_step_frequency,
    update_too_large,
    update_too_small,
    clip_saturation,
    swallowed_update,
    ascending_loss,
    params_unchanged,
    weight_decay_dominates,
    *RANK_RULES,
)
