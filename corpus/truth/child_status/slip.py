import subprocess
import sys

subprocess.run([sys.executable, "-c", "values"], check=True)
