"""Events, and who listens to them. Listeners do not outlive their owners because of this."""
import logging
import weakref
from collections import defaultdict
from types import MethodType

log = logging.getLogger(__name__)


class Bus:
    def __init__(self):
        self._listeners = defaultdict(list)

    def on(self, event, listener):
        """Has a listener called at each event. Methods are held weakly."""
        if isinstance(listener, MethodType):
            reference = weakref.WeakMethod(listener, self._forget(event))
        else:
            reference = _strong(listener)
        self._listeners[event].append(reference)

    def _forget(self, event):
        def forget(reference):
            log.debug("a listener to %s is no more", event)
            self._listeners[event].remove(reference)

        return forget

    def send(self, event, *details):
        heard = 0
        for reference in list(self._listeners[event]):
            listener = reference()
            if listener is not None:
                listener(*details)
                heard += 1
        return heard


def _strong(listener):
    return lambda: listener


bus = Bus()
