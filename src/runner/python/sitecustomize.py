"""Makes an interpreter a zygote: `site` imports this before the interpreter opens its main script. In a child that is to
become a run all that follows is the interpreter's own work, with no frame of ours below.
"""

import minrepro_hidden

if not minrepro_hidden.load("minrepro_zygote.serve").main():
    raise ImportError("no sitecustomize", name="sitecustomize")
