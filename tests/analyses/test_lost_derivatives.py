"""This file tests which derivatives are found to make a whole term of a loss."""

import pytest

from torchmagic.analyses.lost_derivatives import DEEPEST, lost_derivatives

LOST = {
    "class trainer": (
        9,
        """
class Trainer:
    def __init__(self, critic, lambda_gp=10):
        self.critic = critic; self.lambda_gp = lambda_gp
    def penalty(self, real, fake):
        eps = torch.rand(len(real), 1)
        mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
        score = self.critic(mixed)
        gradients = torch.autograd.grad(outputs=score, inputs=mixed, grad_outputs=torch.ones_like(score))[0]
        return ((gradients.view(len(real), -1).norm(2, dim=1) - 1) ** 2).mean()
    def step(self, real, fake):
        loss = self.critic(fake).mean() - self.critic(real).mean()
        gp = self.penalty(real, fake)
        loss += self.lambda_gp * gp
        loss.backward()
""",
    ),
    "forces": (
        5,
        """
for x, e, f in loader:
    x.requires_grad_()
    pred = model(x)
    forces = -torch.autograd.grad(pred.sum(), x, retain_graph=True)[0]
    loss = F.mse_loss(pred, e) + rho * F.mse_loss(forces, f)
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    "ode": (
        5,
        """
def residual(t):
    t.requires_grad_(True)
    y = net(t)
    dy = grad(y, t, torch.ones_like(y))[0]
    return dy + y
for i in range(100):
    loss = (residual(torch.rand(32, 1)) ** 2).mean() + (net(zero) - 1).square().mean()
    loss.backward()
""",
    ),
    "hessian": (
        4,
        """
u = net(x)
ux = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
uxx = torch.autograd.grad(ux.sum(), x)[0]
loss = criterion(uxx + f(x), zeros)
loss.backward()
""",
    ),
}
MEANT = {
    "attack": """
for x, y in loader:
    x.requires_grad_(True)
    loss = F.cross_entropy(net(x), y)
    g, = torch.autograd.grad(loss, x)
    adv = x + eps * g.sign()
    loss = F.cross_entropy(net(adv), y)
    loss.backward()
""",
    "reweight": """
l1, l2 = crit(net(x), a), crit2(net(x), b)
g1 = torch.autograd.grad(l1, shared, retain_graph=True)[0].norm()
g2 = torch.autograd.grad(l2, shared, retain_graph=True)[0].norm()
loss = l1 + (g1 / g2) * l2
loss.backward()
""",
    "detach": """
g = torch.autograd.grad(E(x).sum(), x)[0].detach()
loss = (S(x) - g).square().mean()
loss.backward()
""",
    "target": """
g = torch.autograd.grad(E(x).sum(), x)[0]
loss = F.mse_loss(S(x), g)
loss.backward()
""",
    "action": """
a = actor(s)
dq, = torch.autograd.grad(critic(s, a).mean(), a)
loss = -(a * dq).mean()
loss.backward()
""",
    "normalised": """
g = torch.autograd.grad(net(x).sum(), x)[0]
loss = (F.normalize(net(x)) * g).sum() + (random_part(net(x)) * g).sum()
loss.backward()
""",
    "create": """
g = torch.autograd.grad(net(x).sum(), x, create_graph=True)[0]
loss = ((g.norm(2, 1) - 1) ** 2).mean()
loss.backward()
""",
    "create var": """
g = torch.autograd.grad(net(x).sum(), x, create_graph=training)[0]
loss = ((g.norm(2, 1) - 1) ** 2).mean()
loss.backward()
""",
    "maml": """
params = dict(net.named_parameters())
g = torch.autograd.grad(inner, params.values())
params = {k: p - .01 * d for (k, p), d in zip(params.items(), g)}
loss = F.mse_loss(functional_call(net, params, (x,)), y)
loss.backward()
""",
    "shown": """
g = torch.autograd.grad(net(x).sum(), x)[0]
print(g.norm())
loss = net(x).mean()
loss.backward()
""",
    "data": """
g = torch.autograd.grad(E(x).sum(), x)[0]
loss = (S(x) - (2 * g).data - torch.as_tensor(g)).square().mean()
loss.backward()
""",
    "without gradients": """
g = torch.autograd.grad(E(x).sum(), x)[0]
with torch.no_grad():
    size = g.norm()
loss = S(x).square().mean() + size
loss.backward()
""",
    "argument": """
def train(loss, shared):
    g = torch.autograd.grad(loss, shared, retain_graph=True)[0]
    total = loss / g.norm()
    total.backward()
""",
    "helper": """
def weighted(l, f):
    g = torch.autograd.grad(l, f, retain_graph=True)[0]
    return l / g.norm()
loss = weighted(crit(net(x), y), feats)
loss.backward()
""",
}


@pytest.mark.parametrize(("line", "text"), LOST.values(), ids=LOST)
def test_a_derivative_that_is_a_term_by_itself_is_found_with_its_line(line, text):
    assert [(each.first, each.last) for each in lost_derivatives({"": text})] == [(line, line)]
    assert lost_derivatives(
        {"": text.replace("torch.autograd.grad(", "torch.autograd.grad(create_graph=True, ")}
    ) == [] or ("torch.autograd.grad" not in text)


@pytest.mark.parametrize("text", MEANT.values(), ids=MEANT)
def test_what_weighs_a_term_or_is_given_to_a_model_or_is_detached_is_not(text):
    assert lost_derivatives({"": text}) == []


def test_a_call_may_fill_several_lines_in_another_text_than_the_loss():
    helper = (
        "def size(x):\n    slope, = torch.autograd.grad(\n        net(x).sum(),\n        x,\n    )\n    return slope\n"
    )
    (lines,) = lost_derivatives({"cell": "loss = net(x).mean() + size(x).norm()\nloss.backward()\n", "other": helper})
    assert lines == ("other", 2, 5)


def test_functions_that_call_themselves_come_to_an_end():
    text = "def f(x):\n    return f(x) + torch.autograd.grad(net(x), x)[0]\nloss = f(x)\nloss.backward()\n"
    assert [each.first for each in lost_derivatives({"": text})] == [2]


@pytest.mark.parametrize(("calls", "found"), [(DEEPEST, 1), (DEEPEST + 1, 0)])
def test_calls_are_followed_so_deep(calls, found):
    text = "def f0(x):\n    return torch.autograd.grad(net(x), x)[0]\n"
    text += "".join(f"def f{i}(x):\n    return f{i - 1}(x)\n" for i in range(1, calls))
    assert len(lost_derivatives({"": text + f"loss = f{calls - 1}(x)\nloss.backward()\n"})) == found
