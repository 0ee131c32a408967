"""This file is the events: what torch does, by the names under which the taps tell it."""

EVENTS = (
    "root_begin",  # (module, args, kwargs, frame)
    "root_mode",  # (module), at a call whose training flag is another than that of the call before
    "root_without",  # (module, frame), at a call with gradients switched off
    "root_end",  # (module, args, kwargs, output, nanoseconds)
    "root_error",  # (module), of a call that raised
    "leaf",  # (module, args, output); only while ``sees_leaves``
    "loss",  # (name, args, kwargs, output, frame)
    "softmax",  # (output, frame) of softmax and log_softmax; only while ``see("softmax")``; of others, ``"bounded"``
    "dropout",  # (name, probability, frame), for calls that are active; only while ``see("dropout")``
    "squash",  # ("sigmoid" or "tanh", output, frame), of the functions; only while ``see("sigmoid")`` or ``"tanh"``
    "relu",  # (output, frame), for calls of the function; only while ``sees_leaves``, and where relu is seen
    "backward_begin",  # (tensors, frame)
    "backward_of_leaf",  # (tensor, frame), before the backward of a tensor that no operation made
    "backward_end",  # (tensors, nanoseconds)
    "differentiated",  # (tensors, inputs, frame), before ``torch.autograd.grad`` of them
    "taken_without_graph",  # (tensors, inputs, frame), where it is told to make no graph of the gradients
    "derived",  # (inputs, gradients), after it and the next, where no model or backward asks for it
    "functional_begin",  # (inputs), before ``torch.func.grad`` or ``grad_and_value`` runs a function of them
    "functional_gradient",  # (value, inputs, gradients, frame), after that
    "backward_error",  # (tensors, frame, error)
    "clip_begin",  # (), before gradients are clipped by norm
    "clip",  # (total norm before clipping)
    "clip_value",  # (parameters), before their gradients are clipped by value
    "scaled",  # (tensor, scaled tensor)
    "unscaled",  # (scaler, optimizer)
    "scaler_step_begin",  # (scaler, optimizer, frame)
    "scaler_step_end",  # (scaler, optimizer, frame)
    "scaler_updated",  # (scaler, whether the user gave the new scale)
    "clipped",  # (parameters, limit, frame), after their gradients were clipped by norm or by value
    "reset",  # (optimizer or module, frame), before its ``zero_grad``
    "optimizer_built",  # (optimizer, frame)
    "module_built",  # (module, frame), as its construction begins
    "weights_set",  # (module or parameter, frame): loaded from a state, or written by an initialiser
    "state_taken",  # (module, its state, frame)
    "state_loading",  # (module, state, frame), before the state is loaded
    "saving",  # (object, frame), before ``torch.save`` writes it
    "weights_may_change",  # (module, frame), before ``Module.apply``, without a frame, and after it
    "step_begin",  # (optimizer, frame)
    "step_end",  # (optimizer, nanoseconds)
    "update_begin",  # (what stands for an optimizer, frame), after a backward that a step by hand may follow
    "update_end",  # (what stands for an optimizer, 0), once such a step was seen
    "batch",  # (loader iterator, batch, nanoseconds)
    "loader_built",  # (loader, frame)
    "exhausted",  # (loader iterator), where it has no more batches
    "epoch",  # (loader, loader iterator, nanoseconds, frame)
    "indices",  # (loader iterator, what the sampler drew for a batch; it is loaded later where workers load)
    "host_read",  # (tensor, name of the method, frame); only while ``see("host_reads")``
    "moved",  # (tensor, what it gave on another device, frame, nanoseconds); only while ``see("moves")``
    "schedule_built",  # (scheduler, frame)
    "scheduled",  # (scheduler, frame), for the outermost of nested schedulers
    "schedule_metric",  # (scheduler, the value that it watches), after that, of one that watches a value
    "mode",  # (module, training, frame)
    "compiled_call",  # (the compiler's frame), as what it calls in its local ``fn`` begins
    "graph_replayed",  # (frame), after the replay of a graph in which a device's work was captured
    "log_prob",  # (output); only while ``see("log_prob")``
    "ranked",  # (), after ``init_process_group``
    "collective_begin",  # (name of the function); only while ``see("collectives")``, of waits ``"waits"``
    "collective_end",  # (name of the function, args, kwargs, nanoseconds, frame); the same
    "module_met",  # (module, frame), of a module without a range in ``taps.ranges``; only while ``see("modules")``
    "look",  # () now and then from ranges that are entered often
    "profiler_begin",  # (profiler), before torch's profiler begins to trace; only while ``see("profilers")``
    "worker_begin",  # (), in the process of a loader's worker that was forked off; only while ``see("workers")``
    "subtraction",  # (left, right, output, frame); only while ``see("subtraction")``
)
# Events of which nothing is computed, so that gradients need not be switched off for their listeners.
WITHOUT_TENSORS = frozenset({
    "root_end", "root_error", "root_mode", "root_without", "backward_of_leaf", "backward_end", "derived", "batch",
    "mode", "scaled", "softmax", "log_prob", "dropout",
    "epoch", "indices", "loader_built", "exhausted", "host_read", "moved", "schedule_built", "scheduled",
    "module_met", "profiler_begin", "look", "clip_begin", "graph_replayed", "collective_begin", "collective_end",
    "state_taken", "state_loading", "saving",
})  # fmt: skip
