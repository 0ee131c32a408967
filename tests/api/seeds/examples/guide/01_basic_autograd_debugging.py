from torchmagic import PyTorchDebugger, debug_context

# Using context manager
with debug_context(DebugLevel.BASIC) as debugger:
    # Your training code here
    loss = model(inputs)
    loss.backward()
    optimizer.step()

# Using debugger directly
debugger = PyTorchDebugger(DebugLevel.ADVANCED)
with debugger.autograd_anomaly_detection():
    # Training code
    pass
