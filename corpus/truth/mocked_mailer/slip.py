import unittest
from unittest import mock


class Mailer:
    def send(self):
        pass


class Signup:
    mailer_class = Mailer


class TestSignup(unittest.TestCase):
    def setUp(self):
        patcher = mock.patch.object(Signup, "mailer_class", autospec=True)
        self.mailer = patcher.start()
        self.addCleanup(patcher.stop)

    def test_register(self):
        self.mailer.send.assert_called_once_with("ada@example.org", "welcome ada")


unittest.main()
