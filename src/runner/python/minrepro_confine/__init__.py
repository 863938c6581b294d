"""Confines each run that is forked from a warm interpreter: what `sandbox` does for a run that is started anew.

The interpreter itself was started within namespaces of its own and has kept, there, the rights that this takes; or within
Landlock alone. It forks by `Confinement.fork` a process that calls `enter` and then forks the run, which calls `begin`
first of all. That process in between is the first one of the run's PID namespace: with its end the run ends, and all that
the run left behind. Imports nothing that a script would miss but `ctypes`; for CPython 3.8 or later on Linux.
"""

import os
import sys

NEWNS, NEWIPC, NEWPID, NEWNET = 0x20000, 0x8000000, 0x20000000, 0x40000000
# Calls without a function in every C library; these numbers are the same on all processors.
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
AT_FDCWD, AT_EMPTY_PATH, OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH = -100, 0x1000, 1, 4
MOUNT_ATTR_RDONLY = 1
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND = 1, 2, 4, 8, 4096
S_IFMT, S_IFSOCK = 0o170000, 0o140000
PR_SET_DUMPABLE = 4
CAPABILITY_VERSION_3 = 0x20080522
SIOCSIFFLAGS, IFF_UP = 0x8914, 1

# Rights of Landlock to files, by the version that brought them: how many bits there are, from version 1 on.
FILE_RIGHTS = (13, 14, 15, 15, 16, 16, 16, 16, 17)
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, IOCTL_DEV = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 15
# Abstract Unix sockets and signals, from version 6 on.
SCOPES = 3


class Confinement:
    """How runs that are forked from this process are confined; made before the first of them.

    `session` is the folder that this process may write, `cache` the one below it that all runs may write, `devices` are
    the files below `/dev` that they may write, and `shared_memory` is the size of each run's own `/dev/shm`.
    """

    def __init__(self, namespaces, landlock, session, cache, devices, shared_memory):
        self.confines = namespaces or landlock
        # Imported no earlier than it is used, like all that a script could find imported.
        import ctypes

        self.ctypes = ctypes
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.namespaces = namespaces
        self.landlock = self.landlock_version() if landlock else 0
        self.session = session
        self.cache = cache
        self.devices = devices
        self.shared_memory = shared_memory
        self.own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC) if namespaces else None

    def fork(self):
        """Like `os.fork`; within namespaces the child is the first process of a new one."""
        if not self.namespaces:
            return os.fork()
        self.call("unshare", NEWPID)
        pid = None
        try:
            pid = os.fork()
        finally:
            if pid != 0:
                # The next one, too, shall be first.
                self.call("setns", self.own, NEWPID)
        return pid

    def enter(self, scratch, sockets):
        """For the process between: of the session, only `scratch` and the cache may be written from here on.

        `sockets` are Unix sockets outside; read-only mounts do not bar the way to the services behind them.
        """
        if self.namespaces:
            os.close(self.own)
            self.call("unshare", NEWNS | NEWNET | NEWIPC)
            self.mounts([scratch, self.cache])
            for path in sockets:
                self.cover(path)
            self.loopback()
        if self.confines:
            # The run is of the same user, and could otherwise lay hands on this process.
            self.call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
            self.renounce()

    def begin(self, scratch):
        """For the run itself; `scratch` as before."""
        if self.confines:
            self.call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)
        if self.landlock:
            self.restrict([scratch, self.cache])

    def mounts(self, writable):
        trees = [(path, self.tree(path, OPEN_TREE_CLONE)) for path in writable]
        session = self.tree(self.session, 0)
        attributes = words(MOUNT_ATTR_RDONLY, 0, 0, 0)
        self.system_call(MOUNT_SETATTR, session, b"", AT_EMPTY_PATH, attributes, len(attributes))
        os.close(session)
        for path, tree in trees:
            self.system_call(MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(path), MOVE_MOUNT_F_EMPTY_PATH)
            os.close(tree)
        self.mount(b"tmpfs", b"/dev/shm", MS_NOSUID | MS_NODEV, b"mode=1777,size=%d" % self.shared_memory)
        try:
            self.mount(b"proc", b"/proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
        except OSError:
            # Where parts of /proc are covered, no fresh one may be had.
            pass

    def cover(self, socket):
        try:
            # What was there when this interpreter was started is covered already.
            if os.lstat(socket).st_mode & S_IFMT == S_IFSOCK:
                self.call("mount", b"/dev/null", os.fsencode(socket), None, self.ctypes.c_ulong(MS_BIND), None)
        except OSError:
            # One that went away or lies where nobody gets to needs no cover.
            pass

    def mount(self, kind, target, flags, data):
        self.call("mount", kind, target, kind, self.ctypes.c_ulong(flags), data)

    def tree(self, path, flags):
        return self.system_call(OPEN_TREE, AT_FDCWD, os.fsencode(path), flags | os.O_CLOEXEC)

    def loopback(self):
        socket = self.call("socket", 2, 2 | os.O_CLOEXEC, 0)
        request = b"lo".ljust(16, b"\0") + IFF_UP.to_bytes(2, sys.byteorder) + bytes(22)
        self.call("ioctl", socket, self.ctypes.c_ulong(SIOCSIFFLAGS), request)
        os.close(socket)

    def renounce(self):
        """Gives up all capabilities; `no_new_privs` is inherited, so that none comes back."""
        header = CAPABILITY_VERSION_3.to_bytes(4, sys.byteorder) + bytes(4)
        self.call("capset", header, bytes(24))

    def landlock_version(self):
        version = self.libc.syscall(self.ctypes.c_long(LANDLOCK_CREATE_RULESET), None, self.ctypes.c_size_t(0), 1)
        return max(version, 0)

    def restrict(self, writable):
        known = (1 << FILE_RIGHTS[min(self.landlock, len(FILE_RIGHTS)) - 1]) - 1
        if self.landlock >= 6:
            attributes = words(known, 0, SCOPES)
        else:
            attributes = words(known)
        rules = self.system_call(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
        reading = EXECUTE | READ_FILE | READ_DIR
        device = READ_FILE | WRITE_FILE | IOCTL_DEV
        allowed = [("/", reading), ("/dev/shm", known)]
        allowed += [(path, device | (READ_DIR if os.path.isdir(path) else 0)) for path in self.devices]
        allowed += [(path, known) for path in writable]
        for path, rights in allowed:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rule = words(rights & known) + place.to_bytes(4, sys.byteorder)
            self.system_call(LANDLOCK_ADD_RULE, rules, 1, rule, 0)
            os.close(place)
        self.system_call(LANDLOCK_RESTRICT_SELF, rules, 0)
        os.close(rules)

    def call(self, name, *arguments):
        return self.checked(getattr(self.libc, name)(*arguments), name)

    def system_call(self, number, *arguments):
        whole = [self.ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
        return self.checked(self.libc.syscall(self.ctypes.c_long(number), *whole), "system call %d" % number)

    def checked(self, returned, name):
        if returned == -1:
            error = self.ctypes.get_errno()
            raise OSError(error, "%s: %s" % (name, os.strerror(error)))
        return returned


def words(*numbers):
    """Numbers of 64 bits, one after the other."""
    return b"".join(number.to_bytes(8, sys.byteorder) for number in numbers)
