# Automatic detection of gradient issues
with debugger.debug_context("anomaly_detection"):
    try:
        # Training operation
        output = model(data)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
    except Exception as e:
        # autograd.detect_anomaly() will provide detailed error information
        logger.error(f"Anomaly detected: {str(e)}")
