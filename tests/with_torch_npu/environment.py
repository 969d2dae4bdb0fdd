"""Sets the emulated runtime up; to be imported before torch_npu loads it."""

import os

for variable in [name for name in os.environ if name.startswith("ASCENDFA_EMULATOR_")]:
    del os.environ[variable]
# Two devices of little memory. Queueing and copies take their time, so that work which was not
# ordered goes wrong every time instead of once a year.
os.environ["ASCENDFA_EMULATOR_DEVICES"] = "2"
os.environ["ASCENDFA_EMULATOR_HBM_MIB"] = "256"
os.environ["ASCENDFA_EMULATOR_QUEUE_DELAY_US"] = "10000"
os.environ["ASCENDFA_EMULATOR_COPY_DELAY_US"] = "100000"
# An operator that is missing is an error at once, not a failure of the old interface later on.
os.environ["ACL_OP_INIT_MODE"] = "2"
