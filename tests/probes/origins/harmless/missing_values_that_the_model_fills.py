"""Missing values that the model fills."""


class Fill(nn.Module):
    def forward(self, x):
        return torch.nan_to_num(x)


net = nn.Sequential(Fill(), nn.Linear(4, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
x[3, 1] = float("nan")
for step in range(40):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
