# Check gradients regularly during training
if batch_idx % 100 == 0:
    gradient_info = debugger.check_gradients(model, loss)
    if gradient_info["gradient_anomalies"]:
        logger.warning(f"Gradient anomalies: {gradient_info['gradient_anomalies']}")
