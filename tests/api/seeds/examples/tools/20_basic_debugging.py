config = DebugConfig(
    mode=DebugMode.ANOMALY_DETECTION,
    level=DebugLevel.BASIC,
    enable_anomaly_detection=True,
    anomaly_detection_mode="warn"
)
