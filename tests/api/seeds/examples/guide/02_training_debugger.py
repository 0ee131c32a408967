from torchmagic import TrainingDebugger

# Initialize training debugger
debugger = TrainingDebugger(DebugLevel.ADVANCED)

# Monitor training steps
for step in range(num_steps):
    loss = model(inputs)
    loss.backward()

    # Monitor step for anomalies
    step_info = debugger.monitor_training_step(model, loss, step)

    optimizer.step()

# Get training summary
summary = debugger.get_training_summary()
print(f"Anomaly rate: {summary['anomaly_rate']:.2%}")
