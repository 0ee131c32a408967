"""Everything inside main."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero


def main():
    torch.manual_seed(1)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter([(torch.randn(8, 4), torch.randn(8, 3)) for _ in range(3)])
    for _ in range(3):
        xb, yb = next(batches)
        optimizer.zero_grad()
        difference = model(xb) - model(xb).detach()
        loss = difference.pow(2).sum(1).sqrt().mean()  # here
        loss.backward()
        optimizer.step()


main()
