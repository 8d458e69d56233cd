"""`python3 -m appliance.system`, for install.sh."""

import sys

from appliance.system.command import main

sys.exit(main())
