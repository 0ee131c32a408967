"""A parametrization of torch's divides by the norm of a weight that is zero."""

# expect-direction: forward
# expect-op: _weight_norm_interface
# expect-cause: norm at zero

net = torch.nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))
with torch.no_grad():
    net.parametrizations.weight.original1.zero_()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    loss = net(torch.randn(8, 4)).pow(2).mean()  # here
    loss.backward()
    opt.step()
