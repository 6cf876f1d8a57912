"""The `kubernetes` handler: an image or a pod template, run as a Job of a cluster."""

from activities.handlers.kubernetes.run import KubernetesHandler

HANDLER = KubernetesHandler
