"""The logic of the workflows, and the workflows themselves."""
