# Monitor performance metrics
summary = debugger.get_debug_summary()
if summary['avg_execution_time'] > threshold:
    logger.warning("Performance degradation detected")
