"""From paths to the jobs of a project: files of YAML or JSON with the place of every value, and Python modules."""
