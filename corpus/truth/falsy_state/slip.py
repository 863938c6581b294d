import threading


class Mailbox:
    def _renew(self):
        self.guard = threading.Lock()


Mailbox().guard
