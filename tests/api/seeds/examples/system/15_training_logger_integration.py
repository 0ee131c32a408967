# Integrate with training logger for comprehensive logging
with debugger.debug_context("training_step"):
    optimizer.zero_grad()
    output = model(data)
    loss = criterion(output, target)
    loss.backward()

    # Check gradients
    gradient_info = debugger.check_gradients(model, loss)

    # Log training metrics
    training_logger.log_training_event(
        "training_step",
        "Training step completed",
        level=LogLevel.INFO,
        gradient_info=gradient_info
    )

    optimizer.step()
