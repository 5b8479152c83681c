"""Changes of a deployed stack: the rows of one table, decided by the real engine and by the offline comparison."""
