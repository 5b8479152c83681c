"""The core's tests, one module for each of its own."""
