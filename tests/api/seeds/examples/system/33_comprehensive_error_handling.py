def robust_training_step(model, data, target, optimizer, criterion, debugger):
    """Robust training step with comprehensive error handling."""
    try:
        with debugger.debug_context("training_step"):
            optimizer.zero_grad()
            output = model(data)
            loss = criterion(output, target)
            loss.backward()

            # Check gradients
            gradient_info = debugger.check_gradients(model, loss)
            if gradient_info["gradient_anomalies"]:
                logger.warning(f"Gradient anomalies: {gradient_info['gradient_anomalies']}")

            optimizer.step()
            return loss.item()

    except Exception as e:
        # Log error with debug context
        debugger.error_system.error_tracker.track_error(
            error=e,
            severity=ErrorSeverity.ERROR,
            category=ErrorCategory.MODEL,
            context={"operation": "training_step"}
        )

        # Attempt recovery
        optimizer.zero_grad()
        return None
