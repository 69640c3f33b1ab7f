# What each Python script begins with.
import array, ctypes, errno, os, platform, signal, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENODEV}
def worked(what):
    print(what, flush=True)
def call(what, amd64, arm64, *args):
    "makes a system call; any result but a refusal is from behind the filter"
    if (amd64 if x86 else arm64) is None:
        return
    ctypes.set_errno(0)
    n = libc.syscall(amd64 if x86 else arm64, *args)
    if n >= 0 or ctypes.get_errno() not in REFUSED:
        worked(what)
    return n
def attempt(what, f):
    "calls f, which raises an error when it is kept from what it does"
    try:
        f()
    except (OSError, ValueError):
        return
    worked(what)
def child(f):
    "calls f in a process of its own, and returns how that ended"
    pid = os.fork()
    if pid == 0:
        try:
            f()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1]
def fill(*folders):
    "writes a file in each folder, a megabyte at a time, and prints how many bytes it got"
    for folder in filter(os.path.isdir, folders):
        done = 0
        try:
            with open(folder + "/file", "wb", 0) as f:
                while done < 1 << 28:
                    done += f.write(b"x" * (1 << 20))
                    print(done, flush=True)
        except OSError:
            pass

# take allocates as many of each resource that the kernel limits for a user as counts has, and
# returns the names of those that ran out.
held = []
def signal_queued(n):
    return libc.sigqueue(os.getpid(), signal.SIGRTMAX, None) == 0
def timer(n):
    return libc.syscall(222 if x86 else 107, 0, None, ctypes.byref(ctypes.c_int())) == 0
def message_queue(n):
    name = b"suite%d.%d" % (os.getpid(), n)
    held.append(libc.syscall(240 if x86 else 180, name, os.O_RDWR | os.O_CREAT, 0o600, None))
    libc.syscall(241 if x86 else 181, name) # it is there until it is closed
    return held[-1] >= 0
def descriptors_in_flight(n):
    pair = socket.socketpair()
    held.extend(pair)
    try:
        pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))])
    except OSError:
        return False
    return True
def inotify(n):
    return libc.inotify_init1(0) >= 0
def take(counts):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMAX])
    things = (signal_queued, timer, message_queue, descriptors_in_flight, inotify)
    return [f.__name__ for f, count in zip(things, counts) if not all(map(f, range(count)))]
