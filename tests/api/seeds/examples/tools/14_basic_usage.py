# Create debug configuration
config = DebugConfig(
    mode=DebugMode.FULL_DEBUG,
    level=DebugLevel.ADVANCED,
    enable_anomaly_detection=True,
    enable_gradient_checking=True,
    enable_memory_profiling=True,
    enable_performance_profiling=True
)

# Create debug manager
debug_manager = PyTorchDebugManager(config)

# Debug training step
model = nn.Sequential(nn.Linear(784, 10))
optimizer = torch.optim.Adam(model.parameters())
loss_fn = nn.CrossEntropyLoss()

data_batch = torch.randn(32, 784)
target_batch = torch.randint(0, 10, (32,))

metrics = debug_manager.debug_training_step(
    model, optimizer, loss_fn, data_batch, target_batch
)

print(f"Loss: {metrics['loss']:.4f}")
print(f"Gradient norm: {metrics['gradient_norm']:.4f}")
print(f"Execution time: {metrics['execution_time']:.4f}s")
