package sandboxtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// frames looks like the headers that engines put before pieces of output, and like the
// end of an output.
const frames = "\x01\x00\x00\x00\x00\x00\x00\x04fake\x02\x00\x00\x00\xff\xff\xff\xff\x00\x04\x1a\r\n"

// escapes holds sequences that a terminal executes.
const escapes = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\x1b]52;c;ZXZpbA==\x07\x9b31m\x08\x08\r"

// forgeAttacks try to forge the output or the exit code of their command.
func forgeAttacks() []attack {
	return []attack{
		{
			name:  "guess how an output ends",
			bash:  guesses() + "\nexit 7",
			judge: exactly(guessed(), 7),
		},
		{
			name:  "read how an output ends",
			stdin: "the skill's own input\n",
			python: `
import re
def write(data):
    try:
        os.write(1, data)
    except OSError:
        pass
tokens = []
for pid in {1, os.getppid()}:
    try:
        maps = open("/proc/%d/maps" % pid).read().splitlines()
        memory = open("/proc/%d/mem" % pid, "rb", 0)
    except OSError:
        continue
    for line in maps:
        if "rw" not in line.split()[1] or line.endswith(".so"):
            continue
        first, last = (int(x, 16) for x in line.split()[0].split("-"))
        try:
            memory.seek(first)
            data = memory.read(min(last - first, 1 << 20))
        except (OSError, ValueError, OverflowError):
            continue
        tokens += re.findall(rb"[A-Za-z0-9+/_=-]{12,80}", data)
for pid in {1, os.getppid()}:
    try:
        tokens += re.findall(rb"[A-Za-z0-9+/_=-]{12,80}", open("/proc/%d/cmdline" % pid, "rb").read())
        tokens += re.findall(rb"[A-Za-z0-9+/_=-]{12,80}", open("/proc/%d/environ" % pid, "rb").read())
    except OSError:
        pass
for token in list(dict.fromkeys(tokens))[:3000]:
    for end in (b" 0\n", b":0\n", b"0\n", b"\n0\n", b" 0", b"\t0\n", b"=0\n"):
        write(b"\n" + token + end)
        write(token + end)
    write(b"\0" + token + b" 0\n\0" + token + b"\0" + b"0\0")
    write(b"\0" + token + b"\0" + bytes(4))
sys.stdout.flush()
os._exit(7)
`,
			judge: codeOrFailure(7),
		},
		{
			name:  "take the input and output of another process",
			stdin: strings.Repeat("the skill's own input\n", 100),
			python: `
import fcntl
for pid in {1, os.getppid()}:
    for fd in (0, 3, 4, 5, 6, 7, 8, 9):
        try:
            with open("/proc/%d/fd/%d" % (pid, fd), "rb", 0) as f:
                fcntl.fcntl(f, fcntl.F_SETFL, os.O_NONBLOCK)
                f.read(1 << 16)
        except (OSError, TypeError):
            pass
    for fd in (1, 2, 3, 4, 5, 6, 7, 8, 9):
        try:
            with open("/proc/%d/fd/%d" % (pid, fd), "wb", 0) as f:
                fcntl.fcntl(f, fcntl.F_SETFL, os.O_NONBLOCK)
                f.write(b"\n0\nexit 0\n")
        except (OSError, TypeError):
            pass
os._exit(7)
`,
			judge: codeOrFailure(7),
		},
	}
}

// outputAttacks write bytes that a reader could misread, or more than it wants.
func outputAttacks() []attack {
	return []attack{
		{
			name:  "write what a terminal obeys",
			bash:  "printf '" + octal(escapes) + "'; exit 7",
			judge: exactly(escapes, 7),
		},
		{
			name:  "write what looks like an engine's frames",
			bash:  "printf '" + octal(frames) + "'; printf '" + octal(frames) + "' >&2; exit 7",
			judge: exactly(frames, 7),
		},
		{
			name: "close the output early",
			bash: `
				echo before
				exec 1>&- 2>&- 0<&-
				sleep 0.2
				exit 7`,
			judge: exactly("before\n", 7),
		},
		{
			name:   "flood both outputs",
			limits: sandbox.Limits{Output: 64 << 10},
			bash:   `yes out & yes err >&2 & head -c 1073741824 /dev/zero & wait; sleep 600`,
			judge:  limited(sandbox.LimitOutput),
		},
		{
			name: "never end a line",
			bash: `head -c 8388608 /dev/zero | tr '\0' x; exit 7`,
			judge: func(o outcome) error {
				if o.err != nil || o.result.Code != 7 || o.result.Stdout.Total != 8<<20 {
					return errors.New("the output is not whole")
				}
				return nil
			},
		},
	}
}

// guesses returns a script that prints lines that look like a successful end.
func guesses() string { return "printf '" + octal(guessed()) + "'" }

// guessed returns the output of guesses.
func guessed() string {
	return "\n0\n\nexit 0\nEXIT:0\n__exit__ 0\n\x00" + strings.Repeat("0", 32) + " 0\n" + "\x04\x1a--0\n"
}

// octal returns text, of any bytes, as an argument of printf.
func octal(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String()
}

// codeOrFailure passes the command's own exit code, and calls with an error.
func codeOrFailure(code int) func(o outcome) error {
	return func(o outcome) error {
		if o.err == nil && o.result.Code != code {
			return fmt.Errorf("the exit code is %d, and was %d", o.result.Code, code)
		}
		return ended(o)
	}
}
