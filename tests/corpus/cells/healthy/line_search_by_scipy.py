# case: healthy-line-search-by-scipy
# kind: healthy
# forbid: *
# style: gradients by torch, steps by SciPy's L-BFGS, whose line search tries points that are far too far
# --- setup ---
import numpy as np
import torch
from scipy.optimize import minimize

torch.manual_seed(0)
x = torch.rand(30, 2, dtype=torch.float64)
y = torch.sin(6 * x).sum(1)
# --- cell ---
logs = torch.zeros(3, dtype=torch.float64, requires_grad=True)
values = []


def evidence(numbers):
    with torch.no_grad():
        logs.copy_(torch.from_numpy(numbers))
    logs.grad = None
    scale, length, noise = logs.exp()
    distances = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    kernel = scale * torch.exp(-0.5 * (distances / length) ** 2) + (noise + 1e-6) * torch.eye(len(x), dtype=x.dtype)
    lower = torch.linalg.cholesky(kernel)
    loss = 0.5 * y @ torch.cholesky_solve(y[:, None], lower)[:, 0] + lower.diagonal().log().sum()
    loss.backward()
    values.append(loss.item())
    return loss.item(), logs.grad.numpy()


found = minimize(evidence, np.array([0.0, -2.0, 0.0]), jac=True, method="L-BFGS-B")
print(values[0], found.fun, len(values))
