"""Recorder (the only way in), run and session (the only way out), and the store behind them."""
