"""What an API key may do, as `client.operator`. It must not know how a request is sent."""
