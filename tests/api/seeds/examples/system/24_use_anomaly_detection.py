# Always use anomaly detection during development
with debugger.debug_context("development_training"):
    # Training code
    pass
