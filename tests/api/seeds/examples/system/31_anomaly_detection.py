# Detect model anomalies
anomalies = detect_model_anomalies(model, data)
if anomalies:
    logger.error(f"Model anomalies: {anomalies}")
