import subprocess
import sys

subprocess.run([sys.executable, "-c", "import json; 1 / 0"], check=True)
