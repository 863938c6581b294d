"""Confines each run that is forked from a warm interpreter: what `sandbox` does for a run that is started anew.

The interpreter itself was started within namespaces of its own and has kept, there, the rights that this takes; or within
Landlock alone. It forks by `Confinement.fork` a process that calls `enter` and then forks the run, which calls `begin`
first of all. That process in between is the first one of the run's PID namespace: with its end the run ends, and all that
the run left behind. Imports nothing that a script would miss but `ctypes`; for CPython 3.8 or later on Linux.
"""

import os
import stat
import sys

# The only number of the kernel's that is not `numbers` of the plan: nothing else in minrepro needs it.
CAPABILITY_VERSION_3 = 0x20080522


class Numbers:
    """The kernel's numbers, by their names there."""

    def __init__(self, named):
        vars(self).update(named)


class Confinement:
    """How runs that are forked from this process are confined; made before the first of them.

    `session` is the folder that this process may write, `cache` the one below it that all runs may write, `devices` are
    the files below `/dev` that they may write, and `shared_memory` is the size of each run's own `/dev/shm`. With
    `network` they use that outside. Of the folders `overlays` each run writes to a copy of its own.
    """

    def __init__(self, namespaces, landlock, numbers, session, cache, devices, shared_memory, network, overlays):
        self.confines = namespaces or landlock
        # Imported no earlier than it is used, like all that a script could find imported.
        import ctypes

        self.ctypes = ctypes
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.numbers = Numbers(numbers)
        self.namespaces = namespaces
        self.landlock = self.landlock_version() if landlock else 0
        self.session = session
        self.cache = cache
        self.devices = devices
        self.shared_memory = shared_memory
        self.network = network
        self.overlays = overlays
        self.own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC) if namespaces else None

    def fork(self):
        """Like `os.fork`; within namespaces the child is the first process of a new one."""
        if not self.namespaces:
            return os.fork()
        self.call("unshare", self.numbers.CLONE_NEWPID)
        pid = None
        try:
            pid = os.fork()
        finally:
            if pid != 0:
                # The next one, too, shall be first.
                self.call("setns", self.own, self.numbers.CLONE_NEWPID)
        return pid

    def enter(self, scratch, sockets):
        """For the process between: of the session, only `scratch` and the cache may be written from here on.

        `sockets` are Unix sockets outside that the overlays of this interpreter's view do not cover.
        """
        if self.namespaces:
            os.close(self.own)
            number = self.numbers
            network = 0 if self.network else number.CLONE_NEWNET
            self.call("unshare", number.CLONE_NEWNS | network | number.CLONE_NEWIPC)
            self.mounts([scratch, self.cache])
            for path in sockets:
                self.cover(path)
            if network:
                self.loopback()
        if self.confines:
            # The run is of the same user, and could otherwise lay hands on this process.
            self.call("prctl", self.numbers.PR_SET_DUMPABLE, 0, 0, 0, 0)
            self.renounce()

    def begin(self, scratch):
        """For the run itself; `scratch` as before."""
        if self.confines:
            self.call("prctl", self.numbers.PR_SET_DUMPABLE, 1, 0, 0, 0)
        if self.landlock:
            self.restrict([scratch, self.cache] + self.overlays)

    def mounts(self, writable):
        number = self.numbers
        trees = [(path, self.tree(path, number.OPEN_TREE_CLONE)) for path in writable]
        session = self.tree(self.session, 0)
        if self.overlays:
            # Before the session is closed: what fails up to here can still be noted.
            self.copies(writable[0])
        attributes = words(number.MOUNT_ATTR_RDONLY, 0, 0, 0)
        self.system_call(number.SYS_mount_setattr, session, b"", number.AT_EMPTY_PATH, attributes, len(attributes))
        os.close(session)
        for path, tree in trees:
            place = (number.AT_FDCWD, os.fsencode(path))
            self.system_call(number.SYS_move_mount, tree, b"", *place, number.MOVE_MOUNT_F_EMPTY_PATH)
            os.close(tree)
        flags = number.MS_NOSUID | number.MS_NODEV
        self.mount(b"tmpfs", b"/dev/shm", flags, b"mode=1777,size=%d" % self.shared_memory)
        try:
            self.mount(b"proc", b"/proc", flags | number.MS_NOEXEC, None)
        except OSError:
            # Where parts of /proc are covered, no fresh one may be had. The old one is this interpreter's.
            return
        for entry in os.scandir("/proc"):
            # A process may write what is about itself, as `furnish_processes` in Rust.
            if not entry.name.isdigit() and not entry.is_symlink():
                mode = entry.stat().st_mode
                if stat.S_ISDIR(mode) or mode & 0o222:
                    self.keep(entry.path)

    def keep(self, path):
        """Makes what is at a path read-only."""
        number = self.numbers
        tree = self.tree(path, number.OPEN_TREE_CLONE | number.AT_RECURSIVE)
        attributes = words(number.MOUNT_ATTR_RDONLY, 0, 0, 0)
        flags = number.AT_EMPTY_PATH | number.AT_RECURSIVE
        self.system_call(number.SYS_mount_setattr, tree, b"", flags, attributes, len(attributes))
        place = (number.AT_FDCWD, os.fsencode(path))
        self.system_call(number.SYS_move_mount, tree, b"", *place, number.MOVE_MOUNT_F_EMPTY_PATH)
        os.close(tree)

    def copies(self, place):
        """Covers folders by copies of this run's own, as `overlays` in Rust; `place` is covered meanwhile."""
        flags = self.numbers.MS_NOSUID | self.numbers.MS_NODEV
        self.mount(b"tmpfs", os.fsencode(place), flags, b"mode=0700,size=%d" % self.shared_memory)
        memory = os.open(place, os.O_PATH | os.O_CLOEXEC)
        try:
            self.overlay([(path, "%s/%d" % (place, number)) for number, path in enumerate(self.overlays)], flags)
        finally:
            self.call("umount2", b"/proc/self/fd/%d" % memory, self.numbers.MNT_DETACH)
            os.close(memory)

    def overlay(self, places, flags):
        layers = []
        for path, upper in places:
            os.mkdir(upper)
            os.mkdir(upper + "-work")
            os.chmod(upper, stat.S_IMODE(os.stat(path).st_mode))
            files = [os.open(each, os.O_PATH | os.O_CLOEXEC) for each in (path, upper, upper + "-work")]
            layers.append((path, files))
        for path, files in layers:
            options = "userxattr,lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d"
            self.mount(b"overlay", os.fsencode(path), flags, (options % tuple(files)).encode())
            for file in files:
                os.close(file)

    def cover(self, socket):
        try:
            # What was there when this interpreter was started is covered already.
            if stat.S_ISSOCK(os.lstat(socket).st_mode):
                flags = self.ctypes.c_ulong(self.numbers.MS_BIND)
                self.call("mount", b"/dev/null", os.fsencode(socket), None, flags, None)
        except OSError:
            # One that went away or lies where nobody gets to needs no cover.
            pass

    def mount(self, kind, target, flags, data):
        self.call("mount", kind, target, kind, self.ctypes.c_ulong(flags), data)

    def tree(self, path, flags):
        number = self.numbers
        return self.system_call(number.SYS_open_tree, number.AT_FDCWD, os.fsencode(path), flags | os.O_CLOEXEC)

    def loopback(self):
        socket = self.call("socket", 2, 2 | os.O_CLOEXEC, 0)
        request = b"lo".ljust(16, b"\0") + self.numbers.IFF_UP.to_bytes(2, sys.byteorder) + bytes(22)
        self.call("ioctl", socket, self.ctypes.c_ulong(self.numbers.SIOCSIFFLAGS), request)
        os.close(socket)

    def renounce(self):
        """Gives up all capabilities; `no_new_privs` is inherited, so that none comes back."""
        header = CAPABILITY_VERSION_3.to_bytes(4, sys.byteorder) + bytes(4)
        self.call("capset", header, bytes(24))

    def landlock_version(self):
        call = self.ctypes.c_long(self.numbers.SYS_landlock_create_ruleset)
        version = self.libc.syscall(call, None, self.ctypes.c_size_t(0), 1)
        return max(version, 0)

    def restrict(self, writable):
        number = self.numbers
        known = number.rights[min(self.landlock, len(number.rights)) - 1]
        if self.landlock >= number.first_version_with_scopes:
            attributes = words(known, 0, number.scopes)
        else:
            attributes = words(known)
        rules = self.system_call(number.SYS_landlock_create_ruleset, attributes, len(attributes), 0)
        allowed = [("/", number.reading), ("/dev/shm", known)]
        for path in self.devices:
            allowed.append((path, number.device | (number.folder_of_devices if os.path.isdir(path) else 0)))
        if self.namespaces:
            allowed.append(("/proc", number.process))
        allowed += [(path, known) for path in writable]
        for path, rights in allowed:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rule = words(rights & known) + place.to_bytes(4, sys.byteorder)
            self.system_call(number.SYS_landlock_add_rule, rules, 1, rule, 0)
            os.close(place)
        self.system_call(number.SYS_landlock_restrict_self, rules, 0)
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
