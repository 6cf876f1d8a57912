"""The HTTP server of pages and metrics, and who may read them."""
