"""The `container` handler: an image run by Docker or Podman on the worker's host."""

from activities.handlers.container.run import ContainerHandler

HANDLER = ContainerHandler
