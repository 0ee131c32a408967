# Enable memory-efficient optimizations
optimized_model = debugger.optimize_model(model, OptimizationMode.MEMORY_EFFICIENT)

# Training with gradient checkpointing
for batch in train_loader:
    optimizer.zero_grad()

    # Gradient checkpointing reduces memory usage
    output = optimized_model(data)
    loss = criterion(output, target)
    loss.backward()
    optimizer.step()
