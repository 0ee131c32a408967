"""Softmax over a row of minus infinities, in attention."""

# expect-direction: forward
# expect-op: _softmax | softmax
# expect-cause: softmax over a row of minus infinities
# expect-module: net


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x, padding):
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        scores = scores.masked_fill(padding[:, None, :], float("-inf"))
        weights = scores.softmax(-1)  # here
        return self.out(weights @ x)


net = Attention()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(4, 5, 8)
padding = torch.zeros(4, 5, dtype=torch.bool)
padding[2] = True
for step in range(3):
    opt.zero_grad()
    loss = net(x, padding).pow(2).mean()
    loss.backward()
    opt.step()
