# Benchmark different optimization modes
results = optimizer.benchmark_optimizations(model, dataloader, optimizer, criterion)
best_mode = min(results.items(), key=lambda x: x[1]['total_time'])[0]
