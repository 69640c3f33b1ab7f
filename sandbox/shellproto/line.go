// Package shellproto is the protocol between a driver and the shell of a sandbox that
// waits for a command: the scripts that the shell runs, the line that it is sent, and
// the reply that it gives. It knows no engine: a driver starts the shell and has a
// [Conn] to its standard streams. Start with [NewShell].
//
// The shell is the sandbox's /bin/sh and reads one line from its standard input, which
// it evaluates. So sandboxes can be started ahead of their commands, and an engine's
// description of a sandbox holds nothing of its command: no argument, no variable, no
// secret.
//
// It reads byte by byte, as POSIX asks of read, so the rest of the input is the
// command's. As process 1 of a sandbox it reaps the command's orphans, and no process
// there can kill it.
//
// It replies on both streams with marks, each of which begins with a nonce that is new
// for each command. On stdout come the mark of the begin, the command's output, the
// mark of the end, the status, and /out as a tar archive; on stderr the command's
// output, the mark of the end, messages about files that the archive lacks, and the
// mark again. So a command is answered before an engine has noticed its end.
package shellproto

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// The marks that follow a nonce.
const (
	markBegin   = "+" // the command begins: on stdout
	markMissing = "-" // its program is not there: on stdout, and nothing follows
	markEnd     = "." // the command has ended: on both
)

// The values of a status for /out.
const (
	outEmpty = 0
	outTar   = 1 // a tar archive of it follows
	outNoTar = 2 // the sandbox has no tar
)

// Script is the script of a shell that waits for one command, as the argument of
// /bin/sh -c. The command's own signals do not end it: a command may send them to its
// process group, which is the shell's.
//
// A newline can be quoted in no way that all shells know within one line, so it is in
// a variable. The parts that all commands share are in functions: reading a line costs by
// its length.
const Script = setup + wait

const (
	setup = "skills_mcp_nl='\n'\n" + functions + "trap : HUP INT QUIT TERM\n"
	wait  = `IFS= read -r skills_mcp_line && eval "$skills_mcp_line"`
)

// FirstScript is [Script] for the first process of a sandbox, which also keeps the
// deadline of its command. That needs no server: the end of a killed one ends nothing.
//
// The timer is started with the sandbox and looks every five seconds whether the
// command has begun and how many seconds it has, which is the text of a file without a
// name. Starting it with the command instead took 5 ms of each call on a busy machine.
// It is a process of the command's own user: a script that means to can end it.
const FirstScript = timer + Script

// Ready is the byte that a shell of [PipedScript] writes when it waits for its line.
const Ready = '!'

// PipedScript returns [FirstScript] for a sandbox with the named pipes line, out and err
// in dir, a path without special characters. The shell reads its line from the first, and
// what runs there writes to the others. The input of commands stays where the shell's own
// was; see [Line.Apart]. The shell waits until each pipe is open at its other end.
func PipedScript(dir string) string {
	return timer + fmt.Sprintf("exec 5<&0 <%[1]s/line >%[1]s/out 2>%[1]s/err\n", dir) + setup + fmt.Sprintf("printf '%c'\n", Ready) + wait
}

// Unread is the exit code of a shell of [AttachedScript] whose input has ended before a line,
// so that no command has run.
const Unread = 75

// AttachedScript is [FirstScript] for a shell whose driver connects to it when it runs
// already. It answers each empty line with [Ready], by which the driver knows that both
// directions work.
const AttachedScript = timer + setup + `while IFS= read -r skills_mcp_line; do
	[ -z "$skills_mcp_line" ] || eval "$skills_mcp_line"
	printf '!'
done
exit 75
`

const timer = `if { true >/tmp/.skills-mcp; } 2>/dev/null; then
	exec 3>/tmp/.skills-mcp 4</tmp/.skills-mcp
	(
		trap '' HUP INT QUIT TERM
		n=
		while sleep 5; do
			if [ -z "$n" ]; then read -r n; else n=$((n-5)); [ "$n" -gt 0 ] || kill -9 -1; fi
		done <&4 4<&- 3>&- >&- 2>&- &
	)
	exec 4<&-
	rm -f /tmp/.skills-mcp
fi
`

// functions are the shell functions that a line may call:
//
//   - skills_mcp_deadline SECONDS tells the timer when the command is to end.
//   - skills_mcp_begin NONCE says that the command begins.
//   - skills_mcp_end NONCE, after the command, ends everything but the shell and
//     says how it ended, with the files in /out: a command that is answered has
//     ended. Files above 16 MB, in blocks of 512, are named on stderr, as tar names
//     files that it cannot read, up to another mark: their holes would be read.
//   - skills_mcp_after NONCE KILLS says how a command of a session ended.
//   - skills_mcp_kills sets k to how many processes of this sandbox the kernel
//     has killed for want of memory, as far as it can be seen: in cgroups of
//     version 2 and of version 1.
const functions = `skills_mcp_deadline() { { printf '%s\n' "$1" >&3; } 2>/dev/null; exec 3>&-; }
skills_mcp_begin() { printf %s "$1+"; }
skills_mcp_kills() {
	k=0
	for g in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
		if [ -r "$g" ]; then
			while read -r a n; do if [ "$a" = oom_kill ]; then k=$n; fi; done <"$g"
		fi
	done
}
skills_mcp_say() { printf %s "$1." >&2; printf '%s%d %d %d\n' "$1." "$s" "$k" "$f"; }
skills_mcp_end() {
	s=$?
	kill -9 -1 2>/dev/null
	k=0 f=0
	if [ "$s" != 0 ]; then skills_mcp_kills; fi
	for g in /out/* /out/.[!.]* /out/..?*; do
		if [ -e "$g" ] || [ -L "$g" ]; then f=1; break; fi
	done
	if [ $f = 1 ] && ! command -v tar >/dev/null 2>&1; then f=2; fi
	skills_mcp_say "$1"
	if [ $f = 1 ]; then
		find /out -type f -size +32768 -print -exec rm -f {} + >&2 2>/dev/null
		tar -C /out -cf - .
		printf %s "$1." >&2
	fi
}
skills_mcp_after() {
	s=$?
	skills_mcp_kills
	k=$((k-$2)) f=0
	skills_mcp_say "$1"
}
`

// A Line says how a shell runs its command.
type Line struct {
	// Session is for a command of a session: its processes and files stay.
	Session bool
	// Known says that the command's program is there, so that it is not looked for.
	Known bool
	// Apart says that the shell is one of [PipedScript]. After its command it waits until it
	// is closed, so that its driver decides when an engine has the work of its end.
	Apart bool
	// Drain has the shell read its input to the end before it ends. Some engines lose
	// output where input is left unread, and so do connections, which are then reset.
	Drain bool
}

// text returns the line that runs cmd. nonce is that of its marks.
func (l Line) text(cmd *sandbox.Command, nonce string) string {
	last := "exit 0\n"
	switch {
	case l.Apart:
		last = "IFS= read -r skills_mcp_line; exit 0\n"
	case l.Drain:
		last = "cat >/dev/null; exit 0\n" // the shell keeps its own output open: its end can end the input
	}
	if l.Session {
		return "unset skills_mcp_line; skills_mcp_kills; skills_mcp_k=$k; " + l.invocation(cmd, nonce) +
			"; skills_mcp_after " + nonce + " $skills_mcp_k; " + last
	}
	return fmt.Sprintf("unset skills_mcp_line; skills_mcp_deadline %d; %s; skills_mcp_end %s; %s", deadline(cmd), l.invocation(cmd, nonce), nonce, last)
}

// invocation returns the part of a line that runs the command's program, up to its
// exit status.
func (l Line) invocation(cmd *sandbox.Command, nonce string) string {
	var b strings.Builder
	plain, odd := variables(cmd.Env)
	program := word(cmd.Argv[0])
	if !l.Known && !strings.Contains(cmd.Argv[0], "/") {
		for _, entry := range odd {
			if path, set := strings.CutPrefix(entry, "PATH="); set {
				fmt.Fprintf(&b, "PATH=%s ", word(path)) // not the shell's own, where env(1) and tar(1) are
			}
		}
		fmt.Fprintf(&b, `command -v %s >/dev/null 2>&1 || { printf %%s %s; exit 0; }; `, program, word(nonce+markMissing))
	}
	b.WriteString("skills_mcp_begin " + nonce + "; ")
	b.WriteString("(")
	for _, entry := range plain {
		name, value, _ := strings.Cut(entry, "=")
		fmt.Fprintf(&b, "export %s=%s; ", name, word(value))
	}
	// exec never takes a builtin of the shell's for the program.
	b.WriteString("exec ")
	if len(odd) > 0 {
		b.WriteString("env")
		for _, entry := range odd {
			b.WriteString(" " + word(entry))
		}
		b.WriteString(" ")
	}
	for i, arg := range cmd.Argv {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(word(arg))
	}
	switch {
	case cmd.Stdin == nil:
		b.WriteString(" </dev/null")
	case l.Apart:
		b.WriteString(" <&5")
	}
	if l.Apart {
		b.WriteString(" 5<&-")
	}
	b.WriteString(")")
	return b.String()
}

// deadline returns when the timer of a sandbox ends cmd, in seconds from its begin. The
// timer is up to ten seconds late, and always later than a server.
func deadline(cmd *sandbox.Command) int64 {
	const grace = 5
	return int64(math.Ceil((cmd.Limits.Timeout + cmd.Waits).Seconds())) + grace
}

var (
	// variableName matches the names that a shell can export.
	variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
	// shellVariable matches the names that mean something to a shell or to a line.
	shellVariable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(_|BASH.*|COMP_.*|DIRSTACK|EGID|EPOCH.*|EUID|FUNCNAME|GID|GROUPS|HIST.*|LANG|LANGUAGE|LC_.*|LINENO|OPT(ARG|ERR|IND)|PATH|PIPESTATUS|POSIXLY_CORRECT|PPID|RANDOM|SECONDS|SHELLOPTS|SRANDOM|TMOUT|UID|skills_mcp_.*)$`)
	})
)

// variables splits an environment into plain variables, which a shell can export,
// and odd ones, which env(1) sets. Everybody on the machine can read its command
// line: no secret has such a name.
func variables(env []string) (plain, odd []string) {
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if variableName().MatchString(name) && !shellVariable().MatchString(name) {
			plain = append(plain, entry)
		} else {
			odd = append(odd, entry)
		}
	}
	return plain, odd
}

// Quote quotes s as one word of a POSIX shell.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// word quotes s as one word of a line.
func word(s string) string { return strings.ReplaceAll(Quote(s), "\n", `'"$skills_mcp_nl"'`) }

// The limits of Linux: execve(2), "Limits on size of arguments and environment". The
// total leaves room for the variables of the engine and the image.
const (
	maxString = 128<<10 - 1
	maxTotal  = 2<<20 - 64<<10
)

// Check returns an error where an argument or a variable of cmd could not reach its
// program byte for byte. An engine's error would be less clear, or there would be none.
func Check(cmd *sandbox.Command) error { return checkStrings(cmd.Argv, cmd.Environ()) }

func checkStrings(argv, env []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return errors.New("run command: it names no program")
	}
	total := 0
	for _, s := range slices.Concat(argv, env) {
		if err := checkString(s); err != nil {
			name, _, _ := strings.Cut(s, "=")
			return fmt.Errorf("pass argument or variable %.40q: %w", name, err)
		}
		total += len(s) + 1 + 8 // with its end and a pointer to it
	}
	if total > maxTotal {
		return fmt.Errorf("pass arguments and environment: they are %s, and a program takes at most %s", sandbox.Bytes(int64(total)), sandbox.Bytes(maxTotal))
	}
	for _, entry := range env {
		if name, _, found := strings.Cut(entry, "="); !found || name == "" {
			return fmt.Errorf("pass variable %.40q: it is not NAME=value", entry)
		}
	}
	return nil
}

func checkString(s string) error {
	switch {
	case len(s) > maxString:
		return fmt.Errorf("it is %s, and a program takes at most 128 KB in one", sandbox.Bytes(int64(len(s))))
	case strings.ContainsRune(s, 0):
		return errors.New("it has a NUL byte in it")
	case !utf8.ValidString(s):
		return errors.New("it is not UTF-8, and the Docker Engine API cannot carry it")
	}
	return nil
}
