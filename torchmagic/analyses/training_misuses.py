"""This file is what is often done wrong with gradients, optimizers, schedules and scalers, told by the exception."""

from torchmagic.analyses.misuse import Misuse

_OPTIMIZER = r"\b(?:optim\.\w+|(?:SGD|LBFGS|Adam\w*|[NR]Adam|RMSprop|Rprop|Ada\w+))\("

TRAINING_MISUSES = (
    Misuse(
        r"Attempting to unscale FP16 gradients",
        "the scaler cannot unscale gradients in float16: the weights are float16 themselves",
        "GradScaler is made for weights in float32 whose forward runs under autocast.",
        "keep the weights in float32, without .half(), and run the forward under torch.autocast",
    ),
    Misuse(
        r"No inf checks were recorded prior to update",
        "the scaler's update() comes without a step of any optimizer",
        "update() fits the scale to what the step before it met; without one the weights stay as they are.",
        "scaler.step(optimizer)  # before scaler.update()",
    ),
    Misuse(
        r"No inf checks were recorded for this optimizer",
        "the scaler found no scaled gradients of this optimizer",
        "scaler.step() wants gradients that scaler.scale(loss).backward() made of the optimizer's own parameters.",
        "scaler.scale(loss).backward()  # before scaler.step(optimizer), with parameters that the loss reaches",
    ),
    Misuse(
        r"(unscale_|step)\(\) (?:is being called after step|has already been called)",
        "the scaler is asked for {0}() once more before its update()",
        "Each step of a scaler ends with update(); until then it unscales and steps each optimizer once.",
        "scaler.update()  # once at the end of each step, after all optimizers",
    ),
    Misuse(
        r"appears? to not have been used in the graph",
        "{line} asks for the gradient by a tensor that the result does not depend on",
        "The tensor is not in the graph: the model was given another one, or a copy of it.",
        "give the model this very tensor; allow_unused=True where no gradient is expected",
    ),
    Misuse(
        r"differentiated Tensors does not require grad",
        "{line} asks for the gradient by a tensor that needs none",
        "What is computed of it is remembered only from the moment on at which it requires a gradient.",
        "{last}.requires_grad_()  # before the forward",
    ),
    Misuse(
        r"Inference tensors cannot be saved for backward",
        "{what} needs a tensor that was made in inference mode",
        "What is made under torch.inference_mode() can never take part in a graph.",
        "use torch.no_grad() there in place of inference_mode(), or take {name}.clone() outside of it",
    ),
    Misuse(
        r"change requires_grad flags of leaf variables",
        "{line} switches gradients off for a tensor that was computed",
        "Only what is computed from nothing, such as a parameter, can be switched.",
        "{name} = {name}.detach()  # and .requires_grad_() where its own gradient is wanted",
    ),
    Misuse(
        r"can't optimize a non-leaf Tensor",
        "{line} is given a tensor that was computed",
        "An optimizer steps tensors that are computed from nothing: others get no gradient of their own.",
        "make it a leaf last of all: {name} = {name}.detach().requires_grad_()",
    ),
    Misuse(
        r"'(?:builtin_function_or_)?method' object is not iterable",
        "{line} is given a method, and not what it gives",
        "A method's name without parentheses is the method itself.",
        "{parenthesised}",
        where=r"\.(?:named_)?parameters\b(?!\s*\()",
    ),
    Misuse(
        r"'\w+' object is not iterable",
        "{line} is given a model, and not its parameters",
        "An optimizer is told which tensors it steps.",
        "call it with model.parameters()",
        where=_OPTIMIZER,
    ),
    Misuse(
        r"optimizer can only optimize Tensors, but one of the params is (?:\w+\.)*(\w+)",
        "{line} is given a {0} among its parameters",
        "An optimizer is told which tensors it steps; of a dict it would see the keys.",
        "model.parameters(), or the values() of a dict",
    ),
    Misuse(
        r"not supported between instances of (?:'(?:float|int)' and 'str'|'str' and '(?:float|int)')",
        "{line} is given text in place of a number",
        "What comes from a file or an argument is text; YAML takes 1e-3 for text too, and 1.0e-3 for a number.",
        "lr=float(…)",
        where=_OPTIMIZER,
    ),
    Misuse(
        r"(\w+) is not an Optimizer",
        "{line} is given a {0} in place of an optimizer",
        "A schedule sets the rates of one optimizer, which comes first.",
        "StepLR(optimizer, …)  # and so for the others",
    ),
    Misuse(
        r"optimizer got an empty parameter list",
        "{line} is given no parameters",
        "The model has none that are registered, or the generator of its parameters was used up before.",
        "call model.parameters() anew for each use, of a model with its layers as attributes or in a ModuleList",
    ),
    Misuse(
        r"parameters appear in more than one parameter group",
        "{line} is given some parameters twice",
        "Each parameter belongs to one group: that of the whole model has those of its parts in it.",
        "leave the others out: [p for name, p in model.named_parameters() if not name.startswith('head')]",
    ),
    Misuse(
        r"loaded state dict (?:contains a parameter group that|has a different number)",
        "the optimizer's state belongs to other parameters",
        "An optimizer's state is kept by the number of each parameter in its group; here are others.",
        "build the optimizer over the same groups of parameters as when its state was saved",
    ),
    Misuse(
        r"ReduceLROnPlateau\.step\(\) missing",
        "{line} is not told what to watch",
        "This schedule lowers the rate once a value no longer falls.",
        "scheduler.step(validation_loss)",
    ),
    Misuse(
        r"LBFGS\.step\(\) missing",
        "{line} is not told how to compute the loss",
        "LBFGS computes the loss several times a step, for which it calls a function.",
        "optimizer.step(closure)  # closure: zero_grad(), the loss, backward(), and return loss",
    ),
    Misuse(
        r"'initial_lr' is not specified",
        "{line} is to go on with a schedule that its optimizer has never begun",
        "With last_epoch a schedule goes on where the optimizer's groups say that it began.",
        "build it without last_epoch, then scheduler.load_state_dict(…)",
    ),
)
