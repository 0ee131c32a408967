"""This file tests that what torch says of its misuse today is known, in cells that do what is often done."""

import pytest

NET = "net = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nx = torch.randn(3, 4)\n"
SCALED = "scaler = torch.amp.GradScaler('cpu')\nscaler.scale(net(x).sum()).backward()\n"
CELLS = {
    "net = nn.Linear(4, 2).half()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nx = x.half()\n"
    + SCALED
    + "scaler.step(opt)": "float16",
    SCALED + "opt.zero_grad()\nscaler.step(opt)": "no scaled gradients",
    SCALED + "scaler.step(opt)\nscaler.unscale_(opt)": "once more before its update()",
    SCALED + "scaler.update()": "without a step",
    "nn.Sequential(nn.GRU(4, 4), net)(x)": "got a tuple",
    "F.cross_entropy(None, torch.zeros(3))": "got None",
    "net(x.numpy())": "got an array of numpy",
    "F.linear([1.0], net.weight)": "got a list",
    "nn.GRU(4, 4)(x)[:, -1]": "takes a tuple for a tensor",
    "net(x).sum().item().backward()": "plain number",
    "net(x).numpy()": "asks numpy",
    "nn.CrossEntropyLoss(net(x), torch.tensor([0, 1, 1]))": "builds what it should call",
    "nn.Dropout(net(x))": "nn.Dropout(net(x)) builds",
    "nn.ReLU(net(x)).sum()": "nn.ReLU(net(x)).sum builds",
    "nn.Softmax(net(x), dim=1)": "nn.Softmax(net(x), dim=1) builds",
    "net(nn.Tanh())": "got a Tanh",
    "nn.MSELoss().backward()": "on the MSELoss",
    "net('x')": "got text",
    "nn.Sequential([net])": "one list in place of modules",
    "nn.Sequential(net, nn.ReLU)": "activation.ReLU, and not a module",
    "import numpy as np\ntorch.tensor(np.array(['a']))": "is given text",
    "import numpy as np\ntorch.tensor(np.array([[1], [2, 3]], dtype=object))": "an array of objects",
    "torch.cat(net(x), x)": "in place of a list",
    "net.load_state_dict('net.pt')": "no state",
    "torch.optim.SGD(net, lr=0.1)": "a model, and not its parameters",
    "torch.optim.SGD(net.state_dict(), lr=0.1)": "a str among its parameters",
    "torch.optim.SGD(net.parameters(), lr='1e-3')": "text in place of a number",
    "torch.optim.lr_scheduler.StepLR(net, 3)": "a Linear in place of an optimizer",
    "torch.utils.data.random_split([1, 2, 3], [1, 1])": "do not add up",
    "class Rows(torch.utils.data.IterableDataset):\n    __iter__ = None\n"
    "torch.utils.data.DataLoader(Rows(), shuffle=True)": "shuffle for a stream",
    "if net(x) > 0: pass": "a whole tensor is true",
    "for each in net(x).sum(): pass": "a single number",
    "torch.stack([])": "an empty list",
    "class Net(nn.Module):\n    def __init__(self):\n        self.fc = net\nNet()": "before nn.Module is set up",
    "nn.ModuleList([net])(x)": "a ModuleList cannot be called",
    "class Net(nn.Module): pass\nNet()(x)": "Net has no forward",
    "nn.MultiheadAttention(10, 4)": "cannot share its width",
    "import copy\nnet.cache = net(x)\ncopy.deepcopy(net)": "copies a tensor that was computed",
    "torch.autograd.grad(net(x).sum(), torch.ones(1, requires_grad=True))": "does not depend on",
    "torch.autograd.grad(net(x).sum(), x)": "needs none",
    "with torch.inference_mode():\n    x = x * 2\nnet(x)": "inference mode",
    "net(x).requires_grad_(False)": "switches gradients off",
    "torch.optim.SGD([net(x)], lr=0.1)": "given a tensor that was computed",
    "torch.optim.SGD(net.parameters, lr=0.1)": "given a method",
    "torch.optim.SGD(nn.ReLU().parameters(), lr=0.1)": "given no parameters",
    "torch.optim.SGD([{'params': net.parameters()}, {'params': [net.bias]}], lr=0.1)": "parameters twice",
    "opt.load_state_dict(torch.optim.SGD([net.bias], lr=0.1).state_dict())": "belongs to other parameters",
    "torch.optim.lr_scheduler.ReduceLROnPlateau(opt).step()": "not told what to watch",
    "net(x).sum().backward()\ntorch.optim.LBFGS(net.parameters()).step()": "how to compute the loss",
    "torch.optim.lr_scheduler.StepLR(opt, 3, last_epoch=5)": "has never begun",
    "for batch in torch.utils.data.DataLoader([None, None]): pass": "holds a NoneType",
    "next(torch.utils.data.DataLoader([1, 2]))": "a loader for its iterator",
    "nn.utils.rnn.pack_padded_sequence(x[:, :2, None], torch.tensor([1, 2]))": "longest sequence first",
    "torch.linalg.cholesky(-torch.eye(3))": "not positive definite",
    "torch.linalg.inv(torch.zeros(3, 3))": "singular",
    "nn.parallel.DistributedDataParallel(net)": "group of processes",
    "net.load_state_dict({'module.' + key: each for key, each in net.state_dict().items()})": "from inside a wrapper",
}


@pytest.mark.parametrize(("cell", "words"), CELLS.items(), ids=CELLS.values())
def test_it_is_told_at_its_line(run_cell, cell, words):
    run, _ = run_cell(NET + cell, raises=Exception)
    (finding,) = [each for each in run.findings if each.rule == "api-misuse"]
    assert words in finding.title
    assert finding.fix
    assert finding.source in cell
