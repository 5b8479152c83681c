"""The nouns of a stack as Pulumi components: they turn a plan into resources, and decide nothing else."""
