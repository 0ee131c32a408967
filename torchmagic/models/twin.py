"""This file is the twin of a model: its weights are the model's own memory, and everything else is a copy."""

import copy
import functools
import io
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedTensorMixin  # type: ignore[attr-defined] # torch lists it nowhere
from torch.utils.data import DataLoader, Dataset

# The dictionaries of a module that hold its hooks.
HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks_with_kwargs",
    "_backward_hooks",
    "_backward_pre_hooks",
)
_ATOMS = (str, int, float, complex, bytes, bool, type, torch.dtype, torch.device, torch.Size, types.ModuleType)
# Too big, too shared or too alive to be copied; a forward seldom changes them.
_SHARED = (Dataset, DataLoader, torch.optim.Optimizer, io.IOBase, types.FunctionType, types.BuiltinFunctionType)
_SHARED_ROOMS = ("torch.fx", "torch._dynamo", "torch.distributed", "lightning", "pytorch_lightning", "threading")


class Twin:
    """A copy of a model that can be run, and thrown away, without a trace on the model.

    Parameters are aliases: they share memory with the model's, and have version counters, gradients and hooks of their
    own. Buffers, plain attributes and containers are copies. Hooks of torch's own come along, others stay behind.

    Args:
        model: The model.

    Attributes:
        module: The twin.
        num_left_hooks: Hooks of the user's that stayed behind.
    """

    def __init__(self, model: nn.Module) -> None:
        self._memo: dict[int, Any] = {}
        self._kept: list[Any] = []  # ids in the memo are those of living objects
        self._waiting: list[tuple[nn.Module, nn.Module]] = []
        self.num_left_hooks = 0
        self.module: nn.Module = self._allocated(model)
        while self._waiting:
            self._filled(*self._waiting.pop())

    def of(self, original: Any) -> Any:
        """Return what stands in the twin for a module or tensor of the model; None for what has no counterpart."""
        return self._memo.get(id(original))

    def _remember(self, original: Any, copied: Any) -> Any:
        self._memo[id(original)] = copied
        self._kept.append(original)
        return copied

    def _allocated(self, module: nn.Module) -> nn.Module:
        """Make the shells of a module and of all below it, so that everything that refers to them can be turned."""
        if id(module) in self._memo:
            known: nn.Module = self._memo[id(module)]
            return known
        if isinstance(module, torch.jit.ScriptModule):
            scripted: nn.Module = self._remember(module, copy.deepcopy(module))
            return scripted
        shell: nn.Module = self._remember(module, object.__new__(type(module)))
        for parameter in module._parameters.values():  # noqa: SLF001
            if parameter is not None:
                self._tensor(parameter)
        for name in HOOKS:
            hooks = vars(module).get(name)
            if hooks is not None:
                self._remember(hooks, OrderedDict())
        for child in module._modules.values():  # noqa: SLF001
            if child is not None:
                self._allocated(child)
        self._waiting.append((module, shell))
        return shell

    def _filled(self, module: nn.Module, shell: nn.Module) -> None:
        attributes = {}
        for name, value in vars(module).items():
            if name in HOOKS and value is not None:
                attributes[name] = self._hooks(value)
            elif name == "_compiled_call_impl":
                attributes[name] = None
            else:
                attributes[name] = self._copied(value)
        vars(shell).update(attributes)

    def _hooks(self, hooks: Any) -> Any:
        """Copy the hooks of torch's own, such as those that compute a normalised weight, into the twin's dictionary."""
        twin_hooks = self._memo[id(hooks)]
        for key, hook in hooks.items():
            if isinstance(hook, bool):  # the dictionaries that say how a hook of that key is called
                twin_hooks[key] = hook
            elif is_of_torch(hook):
                twin_hooks[key] = self._copied(hook)
            else:
                self.num_left_hooks += 1
        return twin_hooks

    def _copied(self, value: Any) -> Any:  # noqa: PLR0911 - one answer a kind of value
        if id(value) in self._memo:
            return self._memo[id(value)]
        if value is None or isinstance(value, (*_ATOMS, *_SHARED)):
            return value
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, nn.Module):
            return self._allocated(value)
        if isinstance(value, types.MethodType):
            return types.MethodType(value.__func__, self._owner(value.__self__))
        if isinstance(value, functools.partial):
            return functools.partial(self._copied(value.func), *value.args, **value.keywords)
        if isinstance(value, weakref.ref):
            return self._reference(value)
        if isinstance(value, torch.Generator):
            return self._remember(value, value.clone_state() if hasattr(value, "clone_state") else value)
        if type(value) in (list, tuple, set, dict, OrderedDict, defaultdict, deque):
            return self._container(value)
        return self._object(value)

    def _owner(self, owner: Any) -> Any:
        return self._copied(owner) if isinstance(owner, nn.Module) else owner

    def _reference(self, reference: Any) -> Any:
        target = reference()
        copied = self._memo.get(id(target))
        return reference if copied is None else weakref.ref(copied)

    def _container(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return self._remember(value, tuple(self._copied(each) for each in value))
        if isinstance(value, dict):
            made = self._remember(value, copy.copy(value))
            made.update({key: self._copied(each) for key, each in value.items()})
            return made
        if isinstance(value, set):
            return self._remember(value, {self._copied(each) for each in value})
        made = self._remember(value, copy.copy(value))
        made.clear()
        made.extend(self._copied(each) for each in value)
        return made

    def _object(self, value: Any) -> Any:
        """Copy an object of a class of its own, or share it where that cannot be done."""
        if str(type(value).__module__).startswith(_SHARED_ROOMS):
            return value
        memo = dict(self._memo)
        try:
            copied = copy.deepcopy(value, memo)
        except Exception:  # noqa: BLE001 - an object may refuse to be copied in any way
            return value
        # What two objects share, their copies share; the memo also keeps alive what its ids stand for.
        self._memo.update(memo)
        self._kept.append(memo)
        return self._remember(value, copied)

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) in self._memo:
            known: torch.Tensor = self._memo[id(tensor)]
            return known
        made: torch.Tensor
        if isinstance(tensor, UninitializedTensorMixin):
            made = type(tensor)(requires_grad=tensor.requires_grad, device=tensor.device, dtype=tensor.dtype)
        elif isinstance(tensor, nn.Parameter):
            # .data, unlike detach(), has a version counter of its own.
            alias = tensor.detach().clone() if tensor.is_inference() else tensor.data
            made = nn.Parameter(alias, requires_grad=tensor.requires_grad)
            vars(made).update(vars(tensor))
        else:
            made = tensor.detach().clone().requires_grad_(tensor.requires_grad and tensor.is_leaf)
        self._remember(tensor, made)
        return made


def is_of_torch(hook: Any) -> bool:
    """Whether a hook of a module is one of torch's own, such as one that computes a normalised weight."""
    if isinstance(hook, types.MethodType):
        return isinstance(hook.__self__, nn.Module) and str(hook.__func__.__module__).startswith("torch.")
    function = hook.func if isinstance(hook, functools.partial) else hook
    named = function if isinstance(function, types.FunctionType) else type(function)
    return str(named.__module__).partition(".")[0] == "torch"
