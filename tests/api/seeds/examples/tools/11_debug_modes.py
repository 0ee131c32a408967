class DebugMode(Enum):
    NONE = "none"                           # No debugging
    ANOMALY_DETECTION = "anomaly_detection" # Only anomaly detection
    GRADIENT_CHECKING = "gradient_checking" # Only gradient checking
    MEMORY_PROFILING = "memory_profiling"   # Only memory profiling
    PERFORMANCE_PROFILING = "performance_profiling" # Only performance profiling
    FULL_DEBUG = "full_debug"               # All debugging features
