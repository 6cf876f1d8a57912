"""The differences between the schedules that should exist and those that do, and the plan that removes them."""
