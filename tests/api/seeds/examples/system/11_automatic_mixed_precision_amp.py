# Enable AMP for faster training and reduced memory usage
optimized_model = debugger.optimize_model(model, OptimizationMode.AMP)

# Training with AMP
scaler = torch.cuda.amp.GradScaler()

for batch in train_loader:
    optimizer.zero_grad()

    with torch.cuda.amp.autocast():
        output = optimized_model(data)
        loss = criterion(output, target)

    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
