"""Random histories of one room on a real server, every call judged by a model.

Two engines stand for two processes with memories of their own. Time is passed in and also steps
back; keys vanish, and come back as they were a while ago. After every call the keys are read with
plain commands, never through a script.

    driver      makes a call and lets the model judge it
    *_rules     what may happen, by who does it; each verb has a rule
    model       what may come of it: `policy_model` is what a policy means, `facts` what was read
"""

from pathlib import Path

import pytest

# The rules assert, so their failures should show the values, as those of test files do.
_MODULES = (path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
pytest.register_assert_rewrite(*(f"{__name__}.{name}" for name in _MODULES))
