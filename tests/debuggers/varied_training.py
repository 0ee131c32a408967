"""This file is a training that now and then does what trainings do besides: by a plan, and the same each time."""

import math
from contextlib import nullcontext, suppress
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, TensorDataset


@dataclass(frozen=True)
class Plan:
    """Every how many steps a training does each of these; 0 for never."""

    accumulate: int = 1
    alone: int = 0  # a loss that nothing comes of
    built: int = 0  # a module that nobody calls
    clip: int = 0
    closure: int = 0
    evaluate: int = 0
    fails: int = 0  # a forward, with an exception that is caught
    frozen: int = 0  # a weight, or thawed
    graph: int = 0  # of the gradients
    kept: int = 0  # a loss, with its graph
    mode: int = 0  # of the user's around torch's operators
    nan: int = 0  # in a batch
    new_group: int = 0
    new_parameter: int = 0  # in the group that there is
    other_line: int = 0  # with another loss, by torch's function
    peeks: int = 0  # at what the model gives, between a backward and its step
    rate: int = 0  # which changes
    scaled: int = 0
    second_backward: int = 0
    second_model: int = 0
    shorter: int = 0  # batch
    spike: int = 0
    summed: int = 0  # a loss, and not its mean
    teacher: int = 0  # another model, which nobody trains
    trial: int = 0  # a forward and its loss, with gradients, which come to nothing
    begins_inside: bool = False
    loss_is_module: bool = True
    loss_inside: bool = False  # of the model
    has_loader: bool = False
    rate_is_tensor: bool = False


EVENTS = [name for name, value in vars(Plan()).items() if type(value) is int and name != "accumulate"]


class Brittle(nn.Module):
    """Raises for a batch of one."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))

    def forward(self, x):
        """Give three numbers a row."""
        if len(x) == 1:
            raise ValueError("one row")
        return self.body(x)


class Whole(nn.Module):
    """Gives its loss itself."""

    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x, y):
        """Give the loss of a batch."""
        return functional.cross_entropy(self.body(x), y)


class Silent(TorchDispatchMode):
    """A mode that changes nothing, and keeps what it sees."""

    def __init__(self, seen):
        super().__init__()
        self.seen = seen

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Call what is called."""
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


class Training:
    """What is trained, and each deed of a step.

    Attributes:
        look: Called between the deeds.
        seen: What modes and hooks of the user's were shown.
    """

    def __init__(self, plan):
        torch.manual_seed(1)
        self.plan, self.step = plan, 0
        self.look, self.seen = list, []
        self.model, self.other = Brittle(), nn.Linear(6, 3)
        self.whole = Whole(self.model)
        rate = torch.tensor(0.05) if plan.rate_is_tensor else 0.05
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=rate)
        self.second = torch.optim.SGD(self.other.parameters(), lr=0.1)
        self.criterion = nn.CrossEntropyLoss() if plan.loss_is_module else functional.cross_entropy
        self.scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        self.batches = [torch.randn(8, 6) for _ in range(7)]
        self.loader = DataLoader(TensorDataset(torch.cat(self.batches)), batch_size=8)
        self.passes, self.losses, self.kept = iter(()), [], []

    def does(self, event):
        """Whether it is time."""
        every = getattr(self.plan, event)
        return bool(every) and self.step % every == every - 1

    def run(self, steps):
        """Train; return all weights and losses."""
        for self.step in range(1, steps + 1):
            x, y = self.batch()
            self.do_besides(x)
            loss = self.go_backward(x, y)
            self.losses.append(loss.detach().clone())
            self.change_gradients()
            if self.does("peeks"):
                self.loss(x, y)
            self.look()
            if self.step % self.plan.accumulate == 0:
                with self.hooks() if self.does("graph") else self.mode():
                    self.make_step(x, y)
            self.look()
            self.evaluate(x, y)
            self.look()
        return [each.detach().clone() for each in (*self.model.parameters(), *self.other.parameters(), *self.losses)]

    def mode(self):
        """Return a mode, if it is time."""
        return Silent(self.seen) if self.does("mode") else nullcontext()

    def hooks(self):
        """Return hooks on what graphs save."""
        return torch.autograd.graph.saved_tensors_hooks(lambda saved: self.seen.append(0) or saved, lambda saved: saved)

    def batch(self):
        """Return the inputs and labels of the step."""
        x = self.fetched() if self.plan.has_loader else self.batches[self.step % len(self.batches)]
        y = x[:, :3].argmax(1)
        if self.does("nan"):
            x = x.clone()
            x[0, 0] = math.nan
        return (x[:5], y[:5]) if self.does("shorter") else (x, y)

    def fetched(self):
        """Return the next batch of a loader, pass by pass."""
        x = next(self.passes, None)
        if x is None:
            self.passes = iter(self.loader)
            x = next(self.passes)
        return x[0]

    def do_besides(self, x):
        """Do what comes before the forward."""
        if self.does("trial"):
            self.loss(x, x[:, :3].argmax(1))
        if self.does("new_group"):
            self.optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(3))], "lr": 0.01})
        if self.does("new_parameter"):
            self.optimizer.param_groups[0]["params"].append(nn.Parameter(torch.zeros(2)))
        if self.does("rate"):
            self.optimizer.param_groups[0]["lr"] *= 0.5
        if self.does("frozen"):
            weight = self.model.body[0].weight
            weight.requires_grad_(not weight.requires_grad)
        if self.does("built"):
            nn.Linear(2, 2)
        if self.does("alone"):
            functional.cross_entropy(torch.randn(4, 3), torch.randint(3, (4,)))
        if self.does("fails"):
            with suppress(ValueError):
                self.model(x[:1])

    def go_backward(self, x, y):
        """Return the loss that was gone backward from."""
        with self.mode():
            if self.does("other_line"):
                loss = functional.mse_loss(self.model(x), functional.one_hot(y, 3).float())
                torch.autograd.backward(loss)
                return loss
            loss = self.summed(x, y) if self.does("summed") else self.loss(x, y)
            self.look()
            if self.does("kept"):
                self.kept.append(loss)
            if self.does("scaled"):
                self.scaler.scale(loss).backward()
            elif self.does("graph"):
                loss.backward(create_graph=True)
            else:
                loss.backward()
        if self.does("second_backward"):
            self.loss(x, y).backward()
        return loss

    def summed(self, x, y):
        """Return the sum of a batch's losses."""
        return functional.cross_entropy(self.model(x), y, reduction="sum")

    def loss(self, x, y):
        """Return the loss of a batch."""
        if self.plan.loss_inside:
            return self.whole(x, y)
        given = self.model(x)
        if self.does("second_model"):
            given = given + self.other(x)
        if self.does("teacher"):
            given = given + 0.1 * self.other(x).detach()
        loss = self.criterion(given, y)
        return loss / self.plan.accumulate if self.plan.accumulate > 1 else loss

    def change_gradients(self):
        """Do what comes between backward and step."""
        if self.does("spike"):
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(1e12)
        if self.does("clip"):
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def make_step(self, x, y):
        """Make the step."""
        if self.does("closure"):
            self.optimizer.step(lambda: self.again(x, y))
        elif self.does("scaled") and not self.does("other_line"):
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        if self.does("second_model") and self.other.weight.grad is not None:
            self.second.step()
            self.second.zero_grad()
        self.optimizer.zero_grad()

    def again(self, x, y):
        """Be a closure."""
        self.optimizer.zero_grad()
        loss = self.loss(x, y)
        loss.backward()
        return loss

    def evaluate(self, x, y):
        """Evaluate on three batches, if it is time."""
        if self.does("evaluate"):
            self.model.eval()
            with torch.no_grad():
                for _ in range(3):
                    self.criterion(self.model(x), y)
            self.model.train()
