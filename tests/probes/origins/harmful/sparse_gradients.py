"""A square root at zero above an embedding with sparse gradients."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

table = nn.Embedding(10, 4, sparse=True)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    rows = table(torch.tensor([1, 2, 3]))
    loss = (rows - rows.detach()).pow(2).sum(1).sqrt().mean()  # here
    loss.backward()
    opt.step()
