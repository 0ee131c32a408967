# Create optimizer
optimizer = PyTorchOptimizer(debugger)

# Optimize complete training loop
result = optimizer.optimize_training_loop(
    model=model,
    dataloader=train_loader,
    optimizer=optimizer,
    criterion=criterion,
    epochs=10,
    optimization_mode=OptimizationMode.AMP
)

print(f"Training time: {result['total_time']:.2f}s")
print(f"Speedup factor: {result['optimization_metrics']['speedup_factor']:.2f}x")
