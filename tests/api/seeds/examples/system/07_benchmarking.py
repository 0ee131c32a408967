# Benchmark different optimization modes
benchmark_results = optimizer.benchmark_optimizations(
    model=model,
    dataloader=train_loader,
    optimizer=optimizer,
    criterion=criterion,
    epochs=1
)

for mode, result in benchmark_results.items():
    if "error" not in result:
        print(f"{mode}: {result['total_time']:.2f}s")
