"""Ports of packages as they are built for an audit, where a name is not enough."""
