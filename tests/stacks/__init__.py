"""Other stacks: nginx, Node, Go and Java check passes with our gates and examples."""
