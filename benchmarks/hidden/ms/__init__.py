"""Their ports: right ones, and wrong ones that differ where one sample does not show it."""
