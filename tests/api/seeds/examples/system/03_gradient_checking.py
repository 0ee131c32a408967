# Comprehensive gradient analysis
gradient_info = debugger.check_gradients(model, loss)

print(f"Gradient norm: {gradient_info['gradient_norm']}")
print(f"Gradient anomalies: {gradient_info['gradient_anomalies']}")
print(f"Parameter statistics: {gradient_info['parameter_stats']}")
