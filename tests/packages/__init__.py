"""The npm packages of `packages/`."""
