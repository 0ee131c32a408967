"""This file is the events: what torch does, by the names under which the taps tell it."""

EVENTS = (
    "root_begin",  # (module, args, kwargs, frame)
    "root_end",  # (module, args, kwargs, output, nanoseconds)
    "leaf",  # (module, args, output); only while ``sees_leaves``
    "loss",  # (name, args, kwargs, output, frame)
    "softmax",  # (output, frame); only while ``see("softmax")``
    "relu",  # (output, frame), for calls of the function; only while ``sees_leaves``
    "backward_begin",  # (tensors, frame)
    "backward_end",  # (tensors, nanoseconds)
    "backward_error",  # (tensors, frame, error)
    "clip",  # (total norm before clipping)
    "clip_value",  # (parameters), before their gradients are clipped by value
    "scaled",  # (tensor, scaled tensor)
    "unscaled",  # (scaler, optimizer)
    "scaler_step_begin",  # (scaler, optimizer, frame)
    "scaler_step_end",  # (scaler, optimizer, frame)
    "scaler_updated",  # (scaler, whether the user gave the new scale)
    "step_begin",  # (optimizer, frame)
    "step_end",  # (optimizer, nanoseconds)
    "batch",  # (loader iterator, batch, nanoseconds)
    "epoch",  # (loader, loader iterator, nanoseconds, frame)
    "indices",  # (loader iterator, what the sampler drew for a batch; it is loaded later where workers load)
    "schedule_built",  # (scheduler, frame)
    "scheduled",  # (scheduler, frame), for the outermost of nested schedulers
    "mode",  # (module, training, frame)
    "subtraction",  # (left, right, output, frame); only while ``see("subtraction")``
)
# Events of which nothing is computed, so that gradients need not be switched off for their listeners.
WITHOUT_TENSORS = frozenset({
    "root_end", "backward_end", "batch", "mode", "scaled", "softmax",
    "epoch", "indices", "schedule_built", "scheduled",
})  # fmt: skip
