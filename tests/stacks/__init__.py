"""Other stacks: nginx, Node and Java check passes with the files of examples/."""
