import unittest
from unittest import mock

class Mailer:
    def send(self, to, text):
        pass

class Signup:
    mailer_class = Mailer
    def __init__(self):
        self.mailer = self.mailer_class()

class TestSignup(unittest.TestCase):
    def setUp(self):
        patcher = mock.patch.object(Signup, "mailer_class", autospec=True)
        self.mailer = patcher.start()
        self.addCleanup(patcher.stop)
    def test_register(self):
        Signup().mailer.send("ada@example.org", "welcome ada")
        self.mailer.send.assert_called_once_with("ada@example.org", "welcome ada")

unittest.main()
