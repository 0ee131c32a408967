@debug_operation(debug_mode=DebugMode.ANOMALY_DETECTION)
def training_step(model, data, target, optimizer, criterion):
    """Training step with automatic debugging."""
    optimizer.zero_grad()
    output = model(data)
    loss = criterion(output, target)
    loss.backward()
    optimizer.step()
    return loss

# Usage
loss = training_step(model, data, target, optimizer, criterion)
