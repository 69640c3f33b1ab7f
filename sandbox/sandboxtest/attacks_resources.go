package sandboxtest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const megabyte = 1 << 20

// resourceAttacks use more processes, memory and disk than their limits.
func resourceAttacks() []attack {
	return []attack{
		{
			name:   "fork without end",
			limits: sandbox.Limits{PIDs: 64, Timeout: 3 * time.Second},
			bash:   `bomb() { bomb | bomb & }; bomb; sleep 600`,
			judge:  refusedOrEnded,
		},
		{
			name:   "take all memory",
			limits: sandbox.Limits{Memory: 96 * megabyte, Timeout: 30 * time.Second},
			python: `
all = []
while len(all) < 1024:
    try:
        all.append(b"x" * (4 << 20))
    except MemoryError:
        break
    print(len(all) * (4 << 20), flush=True)
os._exit(7)
`,
			judge: atMost(96*megabyte, refusedOrEnded),
		},
		{
			name:   "take all memory by what is in memory",
			limits: sandbox.Limits{Tmp: 16 * megabyte},
			python: fill("/tmp", "/out"),
			judge:  atMost(16*megabyte, ended),
		},
		{
			name:   "take all memory by shared memory",
			limits: sandbox.Limits{Memory: 96 * megabyte, Timeout: 30 * time.Second},
			python: fill("/dev/shm"),
			judge:  atMost(96*megabyte, ended),
		},
		{
			name:   "fill the disk by one file",
			write:  true,
			limits: sandbox.Limits{File: 8 * megabyte, Tmp: megabyte}, // a driver may allow a file as large as /tmp
			python: `
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
` + fill("/workspace"),
			judge: atMost(8*megabyte, ended),
		},
		{
			name:   "make a million files",
			limits: sandbox.Limits{Timeout: 20 * time.Second, Memory: 128 * megabyte},
			python: `
made = 0
try:
    for folder in ("/tmp", "/out"):
        for n in range(500000):
            os.close(os.open("%s/%d" % (folder, n), os.O_CREAT | os.O_WRONLY))
            made += 1
except OSError:
    pass
worked("made %d" % made) if made >= 1000000 else None
`,
			judge: func(o outcome) error {
				if strings.Contains(o.stdout(), "made") {
					return errors.New("all of them were made")
				}
				return ended(o)
			},
		},
		{
			name:   "make deep folders",
			write:  true,
			limits: sandbox.Limits{Timeout: 20 * time.Second},
			python: `
for root in ("/tmp", "/out", os.environ["WORKSPACE"]):
    os.chdir(root)
    try:
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
        open("file", "w").close()
    except OSError:
        pass
os.chdir("/")
`,
			judge: ended,
		},
	}
}

// processAttacks outlive their call, or take or stop others' processes and resources.
func processAttacks() []attack {
	return []attack{
		{
			name: "go on after the end",
			python: `
def sleeper():
    for n in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(n, signal.SIG_IGN)
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    for fd in range(3):
        os.close(fd)
    time.sleep(3600)
child(sleeper)
subprocess.Popen(["nohup", "setsid", "sleep", "3600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
subprocess.Popen(["sleep", "3600"]) # holds the output open
os._exit(7)
`,
			judge: exactly("", 7),
		},
		{
			name:   "ignore being told to end",
			limits: sandbox.Limits{Timeout: time.Second},
			bash:   `trap '' TERM INT HUP QUIT; (trap '' TERM INT HUP; setsid sleep 600 &) ; while :; do sleep 600; done`,
			judge:  limited(sandbox.LimitTime),
		},
		{
			name: "take all that the kernel gives a user",
			python: takeScript + `
take((100000, 100000, 100, 20, 400))
print("waiting", file=sys.stderr, flush=True)
sys.stdin.read()
`,
			probed: true,
			shared: []string{"inotify"},
			bare:   true,
		},
		{
			name:   "use all processors",
			limits: sandbox.Limits{Timeout: 2 * time.Second},
			bash:   `for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; wait`,
			judge:  limited(sandbox.LimitTime),
		},
		{
			name:   "end what runs it",
			limits: sandbox.Limits{Timeout: 10 * time.Second},
			bash: `
				for signal in HUP INT TERM QUIT USR1 SEGV ABRT KILL; do kill -$signal 1; kill -$signal $PPID; done 2>/dev/null
				exit 7`,
			// Its parents may pass a signal on to it.
			judge: refusedOrEnded,
		},
		{
			name:   "stop what runs it",
			limits: sandbox.Limits{Timeout: 5 * time.Second},
			bash: `
				for signal in STOP TSTP TTIN TTOU; do kill -$signal 1; kill -$signal $PPID; done 2>/dev/null
				exit 7`,
			judge: codeOrFailure(7),
		},
	}
}

// fill writes a file in each folder, a megabyte at a time, and prints how many
// bytes it got.
func fill(folders ...string) string {
	return fmt.Sprintf(`
for folder in %s:
    if not os.path.isdir(folder):
        continue
    done = 0
    try:
        with open(folder + "/file", "wb", 0) as f:
            while done < 1 << 28:
                n = f.write(b"x" * (1 << 20))
                done += n
                print(done, flush=True)
    except OSError:
        pass
`, "["+`"`+strings.Join(folders, `", "`)+`"]`)
}

// atMost passes the outcomes that then passes, if no number that was printed is above
// most.
func atMost(most int, then func(o outcome) error) func(o outcome) error {
	return func(o outcome) error {
		for line := range strings.Lines(o.stdout()) {
			var n int
			if _, err := fmt.Sscan(line, &n); err == nil && n > most {
				return fmt.Errorf("it got %d bytes of %d", n, most)
			}
		}
		return then(o)
	}
}
