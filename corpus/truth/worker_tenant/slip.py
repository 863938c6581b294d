import threading

threading.local().tenant
