import unittest
from unittest import mock


class Mailer:
    def send(self, to, text):
        raise RuntimeError("no network in tests")


class Signup:
    mailer_class = Mailer

    def __init__(self):
        self.mailer = self.mailer_class()
        self.users = []

    def register(self, name, mail):
        self.users.append(name)
        self.mailer.send(mail, f"welcome {name}")
        return len(self.users)


class TestSignup(unittest.TestCase):
    def setUp(self):
        patcher = mock.patch.object(Signup, "mailer_class", autospec=True)
        self.mailer = patcher.start()
        self.addCleanup(patcher.stop)

    def test_register(self):
        signup = Signup()
        self.assertEqual(signup.register("ada", "ada@example.org"), 1)
        self.mailer.send.assert_called_once_with("ada@example.org", "welcome ada")


if __name__ == "__main__":
    unittest.main()
