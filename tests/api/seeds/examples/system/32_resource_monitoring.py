# Monitor system resources
monitor_resources()
