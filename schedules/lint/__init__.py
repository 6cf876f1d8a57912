"""The findings of `lint`, and loading a project so that errors keep it from being used."""
