"""This file is what is often done wrong with values and modules, told by what the exception says."""

from torchmagic.analyses.misuse import Misuse

_TUPLES = "Recurrent layers and attention give their output together with a state or weights, as a tuple."
_NO_TENSOR = r"(?:argument '\w+' \(position \d+\) must be Tensor, not {0}|combination of arguments - got \({0}\b)"
_BUILT = "A layer or loss is built once, with its settings, and then called with tensors."
_LAYERS = (
    r"(\w*(?:ReLU6?|GELU|SiLU|ELU|Sigmoid|Tanh|Softmax|Softplus|Flatten|Linear)"
    r"|(?:\w*Dropout|\w+Norm|\w+Pool|BatchNorm|Conv)(?:\dd)?)"
)
_CALLED = r"^(?:(?:torch\.)?nn\.[A-Z]\w*|\w*Loss)\((?!\))"
_BOOL = r"Boolean value of Tensor with more than one value"

MODEL_MISUSES = (
    Misuse(
        _NO_TENSOR.format("tuple"),
        "{what} got a tuple in place of a tensor",
        _TUPLES,
        "take the output alone: output, _ = layer(x); a Sequential cannot do that",
    ),
    Misuse(
        _NO_TENSOR.format("NoneType"),
        "{what} got None in place of a tensor",
        "A function that ends without return gives None; so does a forward.",
        "return x  # at the end of the forward, or of the function that made it",
    ),
    Misuse(
        _NO_TENSOR.format(r"numpy\.\w+"),
        "{what} got an array of numpy in place of a tensor",
        "torch's functions take tensors only.",
        "torch.as_tensor(x, dtype=torch.float32)  # once, where the data are made",
    ),
    Misuse(
        _NO_TENSOR.format("str"),
        "{what} got text in place of a tensor",
        "A loop over a dict gives its keys, which are text.",
        "take the tensor out of the batch by its key: batch['…']",
    ),
    Misuse(
        _NO_TENSOR.format(_LAYERS),
        "{what} got a {0} in place of a tensor: it was built with the tensor, and not called",
        _BUILT,
        "nn.{0}()(x), or its function in torch.nn.functional",
    ),
    Misuse(
        _NO_TENSOR.format(r"(?!Tensor)([\w.]+)"),
        "{what} got a {0} in place of a tensor",
        "torch's functions take tensors only.",
        "give it the tensor that is in it, or make one of numbers: torch.as_tensor(x)",
    ),
    Misuse(
        r"tuple indices must be integers or slices, not tuple|'tuple' object has no attribute '(?:\w+)'",
        "{line} takes a tuple for a tensor",
        _TUPLES,
        "take the output out of it first: output, _ = layer(x)",
    ),
    Misuse(
        r"\b(\w+)\.forward\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.+)",
        "{line} lacks an input of the forward of {0}: {1}",
        "A module is called with what its forward takes; what has no default must be given.",
        "give it {1} as well, or a default where the forward is defined",
    ),
    Misuse(
        r"\b(\w+)\.forward\(\) takes (?:from \d+ to )?(\d+) positional arguments? but \d+ (?:was|were) given",
        "{line} gives the forward of {0} more inputs than it takes",
        "Counted with self, it takes {1}.",
        "name each of them where the forward is defined, or leave out what it does not use",
    ),
    Misuse(
        r"\b(\w+)\.forward\(\) got an unexpected keyword argument '(\w+)'",
        "the forward of {0} takes no {1}",
        "A module is called with what its forward takes.",
        "def forward(self, …, {1}): …  # or leave {1} out",
    ),
    Misuse(
        r"\b(?:Module|Optimizer|LRScheduler)\.(\w+)\(\) missing 1 required positional argument: 'self'",
        "{line} calls {0}() of a class, and not of an object",
        "Parentheses make an object of its class.",
        "model = Model()  # with what its __init__ takes",
    ),
    Misuse(
        r"'(?:float|int|numpy\.\w+)' object has no attribute 'backward'",
        "{line} is called on a plain number",
        "What .item() or float() gives has no graph.",
        "call backward() on the tensor, and take .item() only for what is printed",
    ),
    Misuse(
        r"'NoneType' object has no attribute 'backward'",
        "{line} is called on None",
        "A function that ends without return gives None.",
        "return loss  # at the end of the function that computes it",
    ),
    Misuse(
        r"Can't call numpy\(\) on Tensor that requires grad",
        "{line} asks numpy for a tensor that has a graph",
        "numpy knows no gradients: a tensor is taken out of its graph first, and only for what is reported.",
        "{name}.detach().cpu().numpy()",
    ),
    Misuse(
        rf"{_BOOL}|object has no attribute '\w+'",
        "{line} builds what it should call",
        _BUILT,
        "{called}",
        where=_CALLED,
    ),
    Misuse(
        r"(\w+)\.__init__\(\) got multiple values for argument '(\w+)'",
        "{line} builds what it should call",
        _BUILT,
        "nn.{0}({1}=…)(x), or its function in torch.nn.functional",
        where=_CALLED,
    ),
    Misuse(
        r"'(\w+Loss)' object has no attribute 'backward'",
        "{line} is called on the {0}, and not on what it gives",
        _BUILT,
        "criterion(prediction, target).backward()",
    ),
    Misuse(
        _BOOL,
        "{line} asks whether a whole tensor is true",
        "A truth value is one value; this tensor has many.",
        "say which: .all() or .any(); torch.equal(a, b) for two tensors, (a == b).sum() to count",
    ),
    Misuse(
        r"iteration over a 0-d tensor|len\(\) of a 0-d tensor",
        "{line} goes over a tensor that is a single number",
        "A reduction has left no dimension to go over.",
        "keep one dimension: a reduction less, or .unsqueeze(0)",
    ),
    Misuse(
        r"expected a non-empty list of Tensors|expects a non-empty",
        "{line} joins an empty list",
        "The loop that fills it had no pass, or filled another one.",
        "look at what fills the list: a loader without batches, a condition that is never true",
    ),
    Misuse(
        r"cannot assign \w+ before Module\.__init__\(\) call|object has no attribute '_(?:modules|parameters|buffers)'",
        "a module is given its parts before nn.Module is set up",
        "nn.Module must be set up before it can take note of layers and parameters.",
        "super().__init__()  # the first line of __init__",
    ),
    Misuse(
        r"Module \[(ModuleList|ModuleDict|ParameterList|ParameterDict)\] is missing the required",
        "a {0} cannot be called: it only holds its parts",
        "What is done with them, and in which order, is the forward's to say.",
        "for layer in layers: x = layer(x)  # or nn.Sequential, which can be called",
    ),
    Misuse(
        r"Module \[(\w+)\] is missing the required",
        "{0} has no forward",
        "Calling a module calls its method of that name.",
        "def forward(self, x): …  # spelled so, and indented to be in the class",
    ),
    Misuse(
        r"\b(?:list|tuple|generator) is not a Module subclass",
        "{line} is given one list in place of modules",
        "nn.Sequential takes its modules one by one.",
        "nn.Sequential(*layers)",
    ),
    Misuse(
        r"([\w.]+) is not a Module subclass",
        "{line} is given the class {0}, and not a module of it",
        "Parentheses make a module of its class.",
        "put () behind it, as in nn.ReLU()",
    ),
    Misuse(
        r"can't convert np\.ndarray of type numpy\.(?:str_|bytes_)",
        "{line} is given text",
        "A tensor holds numbers: classes are their numbers.",
        "names, numbers = np.unique(labels, return_inverse=True)",
    ),
    Misuse(
        r"can't convert np\.ndarray of type numpy\.object_",
        "{line} is given an array of objects",
        "Such an array holds text, or rows of several lengths, as a table with mixed columns does.",
        "array.astype(np.float32) once all are numbers; rows of several lengths: nn.utils.rnn.pad_sequence",
    ),
    Misuse(
        r"argument 'tensors' \(position 1\) must be tuple of Tensors, not Tensor",
        "{line} is given tensors one by one in place of a list",
        "What is joined comes first, as one list; then the dimension.",
        "torch.cat([a, b], dim=…)",
    ),
    Misuse(
        r"Expected state_dict to be dict-like",
        "{line} is given no state",
        "A state is a dict of tensors by name; a path has to be loaded first.",
        "model.load_state_dict(torch.load(path))",
    ),
    Misuse(
        r"embed_dim must be divisible by num_heads",
        "{line} cannot share its width out among its heads",
        "Each head gets embed_dim / num_heads features.",
        "make embed_dim a multiple of num_heads",
    ),
    Misuse(
        r"Only Tensors created explicitly by the user",
        "{line} copies a tensor that was computed",
        "A copy of a model copies all that it holds: what it keeps of a forward has a graph.",
        "keep it without its graph: self.cache = x.detach()",
    ),
    Misuse(
        r"not positive[- ]definite",
        "{line} is given a matrix that is not positive definite",
        "Rounding alone can make a covariance or a kernel so that it has an eigenvalue of zero or below.",
        "add to the diagonal: {name} + 1e-4 * torch.eye({name}.shape[-1])",
    ),
    Misuse(
        r"linalg\.\w+: .*singular",
        "{line} is given a matrix that is singular",
        "Rows that depend on each other leave no inverse.",
        "torch.linalg.lstsq or pinv, or add to the diagonal: {name} + 1e-4 * torch.eye({name}.shape[-1])",
    ),
)
