"""One class per resource type: what the service behind it computes, refuses and does."""
