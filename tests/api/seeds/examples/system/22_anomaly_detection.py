def detect_model_anomalies(model: nn.Module, data: torch.Tensor) -> List[str]:
    """Detect anomalies in model behavior."""
    anomalies = []

    with torch.no_grad():
        output = model(data)

        # Check for NaN/Inf outputs
        if torch.isnan(output).any():
            anomalies.append("Model output contains NaN values")

        if torch.isinf(output).any():
            anomalies.append("Model output contains infinite values")

        # Check for unexpected output ranges
        if output.max() > 1.0 or output.min() < 0.0:
            anomalies.append("Model output outside expected range")

        # Check for uniform predictions
        if output.std() < 1e-6:
            anomalies.append("Model predictions are uniform")

    return anomalies
