# Check debug summary regularly
summary = debugger.get_debug_summary()
if summary["total_anomalies"] > threshold:
    logger.log_warning("High anomaly rate detected")
