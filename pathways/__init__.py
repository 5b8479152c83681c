"""What a stack means: settings, TPU facts, arithmetic, names and manifests, as typed Python without Pulumi or I/O."""
