def monitor_resources():
    """Monitor system resources for security."""
    # Check CPU usage
    cpu_usage = psutil.cpu_percent()
    if cpu_usage > 90:
        logger.warning(f"High CPU usage: {cpu_usage}%")

    # Check memory usage
    memory_usage = psutil.virtual_memory().percent
    if memory_usage > 90:
        logger.warning(f"High memory usage: {memory_usage}%")

    # Check GPU memory
    if torch.cuda.is_available():
        gpu_memory = torch.cuda.memory_allocated() / 1024 / 1024  # MB
        if gpu_memory > 8000:  # 8GB
            logger.warning(f"High GPU memory usage: {gpu_memory:.1f}MB")
