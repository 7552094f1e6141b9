"""The suites: `twins/` declares what is compared, `engine/` tests the engine itself."""
