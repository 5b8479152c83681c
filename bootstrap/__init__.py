"""What the workflows of this repository need before they can run, as a stack of its own: see docs/bootstrap.md."""
