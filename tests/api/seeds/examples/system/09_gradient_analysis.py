def analyze_gradients(model, loss):
    """Comprehensive gradient analysis."""
    gradient_info = debugger.check_gradients(model, loss)

    # Check for gradient explosion
    if gradient_info["gradient_norm"] > 10.0:
        logger.warning("Gradient explosion detected")

    # Check for gradient vanishing
    if gradient_info["gradient_norm"] < 1e-6:
        logger.warning("Gradient vanishing detected")

    # Check for NaN/Inf gradients
    for anomaly in gradient_info["gradient_anomalies"]:
        if "NaN" in anomaly or "Inf" in anomaly:
            logger.error(f"Gradient anomaly: {anomaly}")

    return gradient_info
