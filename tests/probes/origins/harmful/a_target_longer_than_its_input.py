"""A target longer than its input."""

# expect-direction: forward
# expect-op: _ctc_loss
# expect-cause: target longer than its input

net = nn.Linear(5, 6)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(4, 2, 5)
tg = torch.tensor([[1, 2, 3, 4, 5], [1, 2, 0, 0, 0]])
ctc = nn.CTCLoss()
for _ in range(3):
    opt.zero_grad()
    lp = net(x).log_softmax(2)
    loss = ctc(lp, tg, torch.tensor([4, 4]), torch.tensor([5, 2]))  # here
    loss.backward()
    opt.step()
