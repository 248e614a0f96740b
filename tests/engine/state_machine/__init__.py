"""Random histories of one room on a real server; a model judges every call.

Two engines stand for two processes with their own memories. Time is passed in, and sometimes steps
back; keys vanish, and come back as they were a while ago. After every call the keys are read with
plain commands, never through a script.

    driver      makes a call and lets the model judge it
    *_rules     what may happen, by who does it; each verb has a rule
    model       what may result: `policy_model` is what a policy means, `facts` what was read
"""

from pathlib import Path

import pytest

# The rules assert, so their failures should show values, as in test files.
_MODULES = (path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
pytest.register_assert_rewrite(*(f"{__name__}.{name}" for name in _MODULES))
