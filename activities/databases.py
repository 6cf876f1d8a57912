"""How the addresses of the known databases begin."""

SQLITE = "sqlite:///"
POSTGRESQL = ("postgresql://", "postgres://")
