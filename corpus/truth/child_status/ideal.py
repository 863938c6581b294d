import subprocess
import sys

code = "import json; json.dumps(float('nan'), allow_nan=False)"
subprocess.run([sys.executable, "-c", code], check=True)
