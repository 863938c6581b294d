//! What a program may try. Each prints `ESCAPED` where something went through that the outside
//! would not show.

/// What it takes to withstand a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Any confinement; and without one the outside shows it, at no harm to more than what the test
    /// has set up.
    Shown,
    /// Any confinement.
    Any,
    /// Namespaces; and without them the outside shows it, as above.
    NamespacesShown,
    /// Namespaces.
    Namespaces,
    /// The limits that a supervisor watches.
    Limits,
}

use Needs::{Any, Limits, Namespaces, NamespacesShown, Shown};

/// Stands before each script. `OUTSIDE` is what the test has set up, see `outside.rs`.
pub(super) const PRELUDE: &str = r"
import ctypes, errno, json, os, shutil, signal, socket, stat, subprocess, sys, time
outside = json.loads(OUTSIDE)
home, victim = outside['home'], outside['victim']
libc = ctypes.CDLL(None, use_errno=True)
def attempt(call, *args, **more):
    try: return call(*args, **more)
    except Exception as error: return error
def forbidden(call, *args, **more):
    result = attempt(call, *args, **more)
    if not isinstance(result, Exception) and result != -1: print('ESCAPED', call, args, result, flush=True)
    return result
def write(path, text='changed', mode='w'):
    with open(path, mode) as file: file.write(text)
";

/// Name, what it needs, source.
pub(super) const SCRIPTS: &[(&str, Needs, &str)] = &[
    (
        "delete the home",
        Shown,
        "shutil.rmtree(home, ignore_errors=True)",
    ),
    ("overwrite", Shown, "attempt(write, home + '/file')"),
    ("append", Shown, "attempt(write, home + '/file', mode='a')"),
    ("truncate", Shown, "attempt(os.truncate, home + '/file', 0)"),
    (
        "create",
        Shown,
        "attempt(write, home + '/folder/new')\nattempt(os.mkdir, home + '/made')\n\
         attempt(os.mkfifo, home + '/pipe')",
    ),
    (
        "rename",
        Shown,
        "attempt(os.rename, home + '/file', home + '/folder/file')\n\
         attempt(os.replace, home + '/folder', 'taken')",
    ),
    (
        "change modes",
        Shown,
        "for path in ('/file', '/folder', ''): attempt(os.chmod, home + path, \
         0o777)\nfd = os.open(home + '/file', os.O_RDONLY)\nattempt(os.fchmod, fd, 0)",
    ),
    (
        "change owners",
        Any,
        "for path in ('/file', '/folder'): attempt(os.chown, home + path, \
         12345, 12345)",
    ),
    (
        "change times",
        Shown,
        "for path in ('/file', '/folder'): attempt(os.utime, home + path, (1, \
         1))",
    ),
    (
        "change attributes",
        Any,
        "attempt(os.setxattr, home + '/file', 'user.x', b'y')",
    ),
    (
        "write through a symbolic link",
        Shown,
        "os.symlink(home + '/file', 'link')\n\
         attempt(write, 'link')\nos.symlink(home, 'folder')\nattempt(write, 'folder/new')",
    ),
    (
        "write through a hard link",
        Shown,
        "attempt(os.link, home + '/file', 'link')\n\
         if os.path.exists('link'): attempt(write, 'link')",
    ),
    (
        "write to the journal and the result",
        Shown,
        "attempt(write, outside['journal'])\n\
         attempt(write, outside['result'])\nattempt(os.remove, outside['journal'])",
    ),
    (
        "write through /proc",
        Shown,
        "for root in ('/proc/self/root', \
         '/proc/self/cwd/../../../../../..', '/proc/1/root', f'/proc/{os.getppid()}/root', \
         f'/proc/{victim}/root'): attempt(write, root + home + '/file')",
    ),
    (
        "write through what was inherited",
        Any,
        "
for fd in range(3, 100):
    for path in ('new', 'file'): attempt(os.open, home + '/' + path, os.O_CREAT | os.O_RDWR | \
         os.O_TRUNC, dir_fd=fd)
    for flag in (os.O_RDWR, os.O_WRONLY): forbidden(os.open, f'/proc/self/fd/{fd}', flag)",
    ),
    (
        "write through io_uring",
        Any,
        "
import mmap, struct
class Ring(ctypes.Structure): _fields_ = [('words', ctypes.c_uint32 * 30)]
ring = Ring()
fd = libc.syscall(425, 1, ctypes.byref(ring))
if fd >= 0:
    w = ring.words
    queue = mmap.mmap(fd, 4096, offset=0)
    entries = mmap.mmap(fd, 4096, offset=0x10000000)
    path = ctypes.create_string_buffer((home + '/ring').encode())
    entries[:64] = struct.pack('<BBHiQQIIQ', 18, 0, 0, -100, 0, ctypes.addressof(path), 0o644, \
         os.O_CREAT | os.O_WRONLY, 7) + bytes(24)
    head, tail, mask, count, flags, dropped, array = w[10:17]
    queue[array:array + 4] = struct.pack('<I', 0)
    queue[tail:tail + 4] = struct.pack('<I', 1)
    libc.syscall(426, fd, 1, 1, 1, None, 0)",
    ),
    (
        "write by a program in memory",
        Shown,
        "fd = os.memfd_create('rm', 0)\n\
         os.write(fd, open(shutil.which('rm'), 'rb').read())\n\
         if os.fork() == 0: os.execv(f'/proc/self/fd/{fd}', ['rm', '-rf', home])\nos.wait()",
    ),
    (
        "write by a shell",
        Shown,
        "os.system(f'cd {home} && echo changed > file; rm -rf folder')",
    ),
    (
        "write to Python itself",
        Any,
        "forbidden(write, os.path.join(sys.prefix, 'escaped'))\n\
         forbidden(open, os.__file__, 'a')\nforbidden(open, sys.executable, 'r+b')",
    ),
    (
        "write to the program that started it",
        Any,
        "for pid in (1, os.getppid()): forbidden(open, \
         f'/proc/{pid}/exe', 'r+b')",
    ),
    (
        "delete its own folders",
        Any,
        "for path in ('.', os.environ['TMPDIR'], '..', '../..'): \
         shutil.rmtree(path, ignore_errors=True)",
    ),
    (
        "put pipes where minrepro reads",
        Any,
        "
for name in ('note', 'trace.json', 'imports'):
    attempt(os.remove, '../' + name)
    attempt(os.mkfifo, '../' + name)",
    ),
    (
        "put endless files where minrepro reads",
        Any,
        "
for name in ('note', 'trace.json', 'imports'):
    attempt(os.remove, '../' + name)
    attempt(os.symlink, '/dev/zero', '../' + name)",
    ),
    (
        "claim that it could not be started",
        Any,
        "write('../note', json.dumps({'broken': '\\x1b]0;ESCAPED\\x07'}))",
    ),
    (
        "a ring of calls",
        Any,
        "
for call in (425, 0x40000000 | 425):
    if libc.syscall(call, 1, (ctypes.c_uint32 * 30)()) >= 0: print('ESCAPED', call)",
    ),
    (
        "limits of others",
        Any,
        "
import resource
attempt(resource.prlimit, victim, resource.RLIMIT_NOFILE, (5, 5))
attempt(resource.prlimit, outside['minrepro'], resource.RLIMIT_NOFILE, (5, 5))
libc.syscall(251 if os.uname().machine == 'x86_64' else 30, 1, victim, 3 << 13)",
    ),
    (
        "flags of files",
        Any,
        "
import fcntl
fd = attempt(os.open, home + '/file', os.O_RDONLY)
for request in (0x40086602, 0x40046602): attempt(fcntl.ioctl, fd, request, (0x40).to_bytes(8, \
         'little'))",
    ),
    (
        "connect by TCP",
        NamespacesShown,
        "attempt(socket.create_connection, ('127.0.0.1', \
         outside['tcp']), 2)",
    ),
    (
        "send by UDP",
        NamespacesShown,
        "attempt(socket.socket(socket.AF_INET, \
         socket.SOCK_DGRAM).sendto, b'x', ('127.0.0.1', outside['udp']))",
    ),
    (
        "ask for a name",
        Namespaces,
        "forbidden(socket.getaddrinfo, 'example.com', 80)\n\
         forbidden(socket.create_connection, ('192.0.2.1', 53), 2)",
    ),
    (
        "connect to an abstract socket",
        Shown,
        "attempt(socket.socket(socket.AF_UNIX).connect, '\\0' \
         + outside['abstract'])",
    ),
    (
        "connect to a socket in the file system",
        NamespacesShown,
        "attempt(socket.socket(socket.AF_UNIX).connect, outside['stream'])",
    ),
    (
        "connect to a socket by another name",
        NamespacesShown,
        "
for path in (outside['renamed'], outside['linked'], '/proc/self/root' + outside['renamed']):
    attempt(socket.socket(socket.AF_UNIX).connect, path)
os.symlink(home, 'home')
attempt(socket.socket(socket.AF_UNIX).connect, 'home/renamed')
fd = os.open(outside['linked'], os.O_PATH)
attempt(socket.socket(socket.AF_UNIX).connect, f'/proc/self/fd/{fd}')",
    ),
    (
        "send to a socket in the file system",
        NamespacesShown,
        "attempt(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto, b'x', outside['datagram'])",
    ),
    (
        "talk to the host of the machine",
        Any,
        "forbidden(socket.socket, getattr(socket, 'AF_VSOCK', \
         40), socket.SOCK_STREAM)",
    ),
    (
        "raw sockets",
        Any,
        "forbidden(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)\n\
         forbidden(socket.socket, socket.AF_PACKET, socket.SOCK_RAW, 0)",
    ),
    (
        "kill another process",
        Shown,
        "attempt(os.kill, victim, signal.SIGTERM)\n\
         attempt(os.kill, victim, signal.SIGKILL)",
    ),
    (
        "stop another process",
        Shown,
        "attempt(os.kill, victim, signal.SIGSTOP)",
    ),
    (
        "signal by a file descriptor",
        Shown,
        "attempt(lambda: \
         signal.pidfd_send_signal(os.pidfd_open(victim), signal.SIGKILL))",
    ),
    (
        "kill minrepro",
        Any,
        "for sign in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL): \
         attempt(os.kill, outside['minrepro'], sign)",
    ),
    (
        "kill everyone",
        Any,
        "attempt(os.kill, -1, signal.SIGSTOP)\n\
         attempt(os.kill, -1, signal.SIGKILL)",
    ),
    (
        "stop and kill all it sees",
        Any,
        "
for sign in (signal.SIGSTOP, signal.SIGKILL):
    for pid in [int(name) for name in os.listdir('/proc') if name.isdigit()]:
        if pid != os.getpid(): attempt(os.kill, pid, sign)",
    ),
    (
        "kill its ancestors",
        Any,
        "
pid = os.getpid()
while pid > 0:
    pid = int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[1])
    if pid > 1: attempt(os.kill, pid, signal.SIGKILL)",
    ),
    (
        "kill the group of its parent",
        Any,
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         attempt(lambda: os.killpg(os.getpgid(os.getppid()), signal.SIGTERM))\n\
         attempt(os.killpg, outside['minrepro'], signal.SIGKILL)",
    ),
    (
        "trace others",
        Any,
        "for pid in (victim, outside['minrepro'], os.getppid(), 1): \
         forbidden(libc.ptrace, 16, pid, None, None)",
    ),
    (
        "write to the memory of others",
        Any,
        "
for pid in (victim, outside['minrepro'], os.getppid(), 1):
    forbidden(open, f'/proc/{pid}/mem', 'r+b', buffering=0)
    byte = ctypes.create_string_buffer(1)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(byte), 1)
    libc.process_vm_writev(pid, vector, 1, vector, 1, 0)
    if ctypes.get_errno() not in (errno.EPERM, errno.ESRCH): print('ESCAPED', pid, \
         ctypes.get_errno())",
    ),
    (
        "take files from others",
        Any,
        "
for pid in (victim, outside['minrepro'], os.getppid(), 1):
    forbidden(lambda: libc.syscall(438, os.pidfd_open(pid), 0, 0))",
    ),
    (
        "slow down others",
        Shown,
        "attempt(os.setpriority, os.PRIO_PROCESS, victim, 19)\n\
         attempt(os.sched_setaffinity, victim, {0})\n\
         attempt(os.sched_setscheduler, victim, os.SCHED_IDLE, os.sched_param(0))",
    ),
    (
        "slow down all of the user's processes",
        Any,
        "attempt(os.setpriority, os.PRIO_USER, \
         os.getuid(), 19)",
    ),
    (
        "run before all others",
        Any,
        "forbidden(os.nice, -5)\n\
         forbidden(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(50))",
    ),
    (
        "become a daemon",
        Any,
        "
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: os.execv(sys.executable, [sys.executable, '-c', 'import time; \
         time.sleep(600)', outside['marker']])
    os._exit(0)
os.wait()",
    ),
    (
        "leave behind what ignores all signals",
        Any,
        "
ready, told = os.pipe()
if os.fork() == 0:
    os.setsid()
    for sign in range(1, 65): attempt(signal.signal, sign, signal.SIG_IGN)
    os.write(told, b'x')
    os.execv(sys.executable, [sys.executable, '-c', 'while True: pass', outside['marker']])
os.read(ready, 1)",
    ),
    (
        "never end",
        Limits,
        "for sign in range(1, 65): attempt(signal.signal, sign, signal.SIG_IGN)\n\
         while True: attempt(time.sleep, 60)",
    ),
    ("fork without end", Limits, "while True: os.fork()"),
    (
        "fork and leave",
        Limits,
        "
while True:
    if os.fork(): os._exit(0)
    os.setsid()",
    ),
    (
        "fill the disk",
        Limits,
        "
for number in range(10000):
    attempt(write, f'{number}', b'x' * (16 << 20), 'wb')",
    ),
    (
        "make files without end",
        Limits,
        "number = 0
while True: write(f'{number}', ''); number += 1",
    ),
    (
        "make folders within each other without end",
        Limits,
        "
while True:
    os.mkdir('deeper')
    os.chdir('deeper')",
    ),
    (
        "one large file",
        Any,
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n\
         forbidden(lambda: os.posix_fallocate(os.open('f', os.O_CREAT | os.O_WRONLY), 0, 100 << \
         30))",
    ),
    (
        "fill the memory",
        Limits,
        "x = bytearray(100 << 30)\n\
         for at in range(0, len(x), 4096): x[at] = 1",
    ),
    (
        "fill the memory by many",
        Limits,
        "
for _ in range(8): os.fork()
x = []
while True: x.append(bytearray(b'x' * (1 << 20)))",
    ),
    (
        "fill the shared memory",
        Namespaces,
        "
with open('/dev/shm/x', 'wb', buffering=0) as file: attempt(lambda: [file.write(bytes(1 << 20)) \
         for _ in range(64)])
for number in range(64): attempt(shutil.copyfile, '/dev/shm/x', f'/dev/shm/{number}')
print('ESCAPED' if sum(os.stat('/dev/shm/' + name).st_blocks * 512 for name in \
         os.listdir('/dev/shm')) > outside['shared'] else '')",
    ),
    (
        "open a million files",
        Any,
        "
import resource
attempt(resource.setrlimit, resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))
attempt(resource.setrlimit, resource.RLIMIT_NOFILE, \
         (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
files = []
attempt(lambda: [files.append(os.open('/dev/null', os.O_RDONLY)) for _ in range(1 << 20)])
count = len(files)
for fd in files: os.close(fd)
print('ESCAPED' if count > 1 << 16 else '')",
    ),
    (
        "write to disks",
        Any,
        "
for name in os.listdir('/sys/block'):
    forbidden(open, '/dev/' + name, 'r+b')
    number = os.makedev(*map(int, open(f'/sys/block/{name}/dev').read().split(':')))
    attempt(os.mknod, name, 0o600 | stat.S_IFBLK, number)
    forbidden(open, name, 'r+b') if stat.S_ISBLK(os.stat(name).st_mode if os.path.exists(name) \
         else 0) else None
for name in ('mem', 'kmem', 'port', 'kmsg', 'fuse', 'kvm', 'loop-control', 'uinput'): \
         forbidden(os.open, '/dev/' + name, os.O_RDWR)",
    ),
    (
        "change mounts",
        Any,
        "
path = home.encode()
for flags in (0, 32 | 4096, 4096): forbidden(libc.mount, b'tmpfs', path, b'tmpfs', flags, None)
for target in (b'/', b'/proc', b'/dev', os.environ['TMPDIR'].encode()): forbidden(libc.mount, \
         None, target, None, 32 | 4096, None)
for target in (b'/proc', b'/dev', b'/dev/shm', os.path.dirname(os.getcwd()).encode()): \
         forbidden(libc.umount2, target, 2)
forbidden(os.chroot, '.')
forbidden(libc.syscall, 155 if os.uname().machine == 'x86_64' else 41, b'.', b'.')",
    ),
    (
        "namespaces of its own",
        Any,
        "
if os.fork() == 0:
    for flags in (0x10000000 | 0x20000, 0x10000000, 0x20000): libc.unshare(flags)
    attempt(write, '/proc/self/setgroups', 'deny')
    attempt(write, '/proc/self/uid_map', f'0 {os.getuid()} 1')
    for target in (b'/', os.path.dirname(home).encode(), home.encode()):
        libc.mount(None, target, None, 32 | 4096, None)
        libc.umount2(target, 2)
    attempt(write, home + '/file')
    attempt(os.kill, victim, signal.SIGKILL)
    os._exit(0)
os.wait()",
    ),
    (
        "namespaces of others",
        Any,
        "
for pid in (1, victim, outside['minrepro']):
    for kind in ('mnt', 'net', 'pid', 'user'):
        fd = attempt(os.open, f'/proc/{pid}/ns/{kind}', os.O_RDONLY)
        if isinstance(fd, int): libc.setns(fd, 0)
attempt(write, home + '/file')
attempt(os.kill, victim, signal.SIGKILL)",
    ),
    (
        "a program with its owner's rights",
        Any,
        "
forbidden(os.setuid, os.getuid() + 1)
forbidden(os.setgid, os.getgid() + 1)
status = subprocess.run([outside['setuid'], '/proc/self/status'], \
         stdout=subprocess.PIPE).stdout.decode()
fields = dict(line.split(':', 1) for line in status.splitlines())
print('ESCAPED' if int(fields['CapEff'], 16) or int(fields['NoNewPrivs']) != 1 else '')",
    ),
    (
        "keys of the user",
        Any,
        "
call = 250 if os.uname().machine == 'x86_64' else 219
for ring in (-3, -4, -5): forbidden(libc.syscall, call, 0, ring, 1)
forbidden(libc.syscall, call, 7, -3)
forbidden(libc.syscall, call - 2 if call == 250 else 217, b'user', b'escaped', b'x', 1, -4)",
    ),
    (
        "type into the terminal",
        Any,
        "
import fcntl, termios
for path in ('/dev/tty', '/dev/console', '/dev/tty1'):
    fd = attempt(os.open, path, os.O_RDWR)
    if isinstance(fd, int): forbidden(fcntl.ioctl, fd, termios.TIOCSTI, b'x')",
    ),
    (
        "settings of the kernel",
        Any,
        "
for path in ('/proc/sys/kernel/hostname', '/proc/sys/kernel/core_pattern', \
         '/proc/sys/vm/overcommit_memory', '/proc/sysrq-trigger',
             '/proc/sys/kernel/ns_last_pid', '/sys/kernel/mm/transparent_hugepage/enabled', \
         '/sys/power/state'):
    forbidden(open, path, 'w')
for folder, _, names in os.walk('/sys/fs/cgroup'):
    for name in names:
        if name in ('cgroup.procs', 'tasks', 'memory.max', 'release_agent'): forbidden(open, \
         os.path.join(folder, name), 'w')",
    ),
    (
        "clock and names of the machine",
        Any,
        "
forbidden(socket.sethostname, 'escaped')
forbidden(lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()))
forbidden(libc.setdomainname, b'escaped', 7)
forbidden(libc.swapoff, b'/nonexistent') if libc.swapoff(b'/nonexistent') == 0 or \
         ctypes.get_errno() != errno.EPERM else None",
    ),
    (
        "parts of the kernel",
        Any,
        "
x86 = os.uname().machine == 'x86_64'
for call in ((175, 246) if x86 else (105, 104)):
    if libc.syscall(call, None, 0, None, 0) == 0 or ctypes.get_errno() not in (errno.EPERM, \
         errno.ENOSYS): print('ESCAPED', call)",
    ),
];
