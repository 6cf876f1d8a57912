"""The monitor of a namespace: figures of each job, also of one that never ran, and alert rules over them."""
