def create_debug_report(self) -> Dict[str, Any]:
    """Create comprehensive debug report."""
    report = {
        'summary': {
            'total_debug_operations': len(self.debug_history),
            'anomalies_detected': sum(1 for info in self.debug_history if info.anomaly_detected),
            'memory_leaks_detected': sum(1 for info in self.debug_history if info.memory_leak_detected),
            'performance_issues_detected': sum(1 for info in self.debug_history if info.performance_issue_detected),
            'debug_mode': self.config.mode.value,
            'debug_level': self.config.level.value
        },
        'performance_analysis': {
            'average_execution_time': np.mean([info.execution_time for info in self.debug_history]),
            'max_execution_time': max([info.execution_time for info in self.debug_history], default=0),
            'min_execution_time': min([info.execution_time for info in self.debug_history], default=0)
        },
        'memory_analysis': {
            'average_memory_usage': np.mean([info.memory_usage for info in self.debug_history]),
            'max_memory_usage': max([info.memory_usage for info in self.debug_history], default=0),
            'average_gpu_memory': np.mean([info.gpu_memory for info in self.debug_history]),
            'max_gpu_memory': max([info.gpu_memory for info in self.debug_history], default=0)
        },
        'gradient_analysis': {
            'average_gradient_norm': np.mean([info.gradient_norm for info in self.debug_history]),
            'max_gradient_norm': max([info.gradient_norm for info in self.debug_history], default=0),
            'gradient_anomalies': sum(1 for info in self.debug_history if info.gradient_norm > 10.0)
        },
        'operation_breakdown': defaultdict(int)
    }

    # Count operations
    for info in self.debug_history:
        report['operation_breakdown'][info.operation] += 1

    report['operation_breakdown'] = dict(report['operation_breakdown'])

    return report
