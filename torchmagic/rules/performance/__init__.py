"""Rules about speed: what makes each step slower than it need be."""
