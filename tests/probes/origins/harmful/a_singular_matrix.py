"""A singular matrix."""

# expect-direction: forward
# expect-op: _linalg_slogdet
# expect-cause: singular matrix


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([[1.0, 2.0], [2.0, 4.0]]))
        self.b = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        z = x @ self.w + self.b
        return z, torch.logdet(self.w)  # here


f = Flow()
opt = torch.optim.SGD(f.parameters(), lr=0.01)
for i in range(3):
    z, ld = f(torch.randn(32, 2))
    loss = (0.5 * z.pow(2).sum(1) - ld).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
