"""`python3 -m appliance.installation`, for install.sh."""

import sys

from appliance.installation.command import main

sys.exit(main())
