"""A self-hosted smart speaker. The path of the sound, which is also the order of the packages:

            hearing                      thinking                    speaking
 mic ─► echo cancel ─► wake word ─► speech-to-text ─► offline intents ─► clauses ─► voice ─► lane ─► speaker
             ▲   └─► voice activity ─► end of turn                                                      │
             └────────────────── reference: the very samples that the card is handed ───────────────────┘

`core` decides and never does; everything else does and never decides. The `conductor` is the loop between them.
"""

import os

# From 1.32 on onnxruntime tells its maker how it is used; what runs here talks to nobody outside the house.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
