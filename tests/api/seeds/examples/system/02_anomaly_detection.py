# Enable anomaly detection for gradient debugging
with debugger.debug_context("training_operation"):
    optimizer.zero_grad()
    output = model(data)
    loss = criterion(output, target)
    loss.backward()  # autograd.detect_anomaly() will catch issues
    optimizer.step()
