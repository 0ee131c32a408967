# Setup debug manager with training logging
debug_manager = PyTorchDebugManager(config)
debug_manager.setup_training_logging("debug_experiment")

# Training loop with debugging
for epoch in range(num_epochs):
    for batch_idx, (data, target) in enumerate(train_loader):
        try:
            # Debug training step
            metrics = debug_manager.debug_training_step(
                model, optimizer, loss_fn, data, target,
                epoch=epoch, batch=batch_idx
            )

            # Log metrics
            print(f"Epoch {epoch}, Batch {batch_idx}:")
            print(f"  Loss: {metrics['loss']:.4f}")
            print(f"  Gradient norm: {metrics['gradient_norm']:.4f}")

        except Exception as e:
            print(f"Error in training step: {e}")
            # Debug information is automatically logged
            continue

# Create comprehensive report
report = debug_manager.create_comprehensive_report()
