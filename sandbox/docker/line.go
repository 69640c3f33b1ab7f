package docker

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// The first process of every container is the image's /bin/sh, which waits for
// one line on its standard input and evaluates it. So containers can be started
// ahead of the commands that they are for, and nothing of a command (arguments,
// variables, what stands for secrets) is ever in what the engine knows of its
// container.
//
// The shell reads byte by byte, as POSIX asks of read, so the rest of the input
// is the command's. It reaps what the command leaves behind, and no process in
// the container can kill it: it is process 1.
//
// A newline can be quoted in no way that all shells know within one line, so it
// is in a variable. What is the same for all commands is in functions: reading a
// line costs by its length.
//
// The signals that a shell takes are taken without effect: a command may send
// them to its process group, which is the shell's.
const waiter = "skills_mcp_nl='\n'\n" + functions + `trap : HUP INT QUIT TERM
IFS= read -r skills_mcp_line && eval "$skills_mcp_line"`

// firstWaiter is the waiter of a container's first process, which also keeps the
// deadline of its command. That needs no server: one that was killed ends
// nothing.
//
// The timer is started with the container and looks every five seconds whether
// the command has begun and how many seconds it has, which is the text of a file
// that has no name any more. Starting it with the command instead took 5 ms of
// each call on a busy machine. It is a process of the command's own user: a
// script that means to can end it.
const firstWaiter = `if { true >/tmp/.skills-mcp; } 2>/dev/null; then
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
` + waiter

// functions are what a line may call:
//
//   - skills_mcp_deadline SECONDS tells the timer when the command is to end.
//   - skills_mcp_begin NONCE says that the command begins.
//   - skills_mcp_end NONCE, after the command, ends everything but the shell and
//     says how it ended, with the files in /out: a command that is answered has
//     ended. Files above 16 MB, in blocks of 512, are named on stderr, as tar names
//     files that it cannot read, up to another mark: their holes would be read.
//   - skills_mcp_kept NONCE KILLS says how a command in a kept container ended.
//   - skills_mcp_kills sets k to how many processes of this container the kernel
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
skills_mcp_kept() {
	s=$?
	skills_mcp_kills
	k=$((k-$2)) f=0
	skills_mcp_say "$1"
}
`

// The marks that follow a run's nonce on the streams.
const (
	markBegin   = "+" // the command begins: on stdout
	markMissing = "-" // its program is not there: on stdout, and nothing follows
	markEnd     = "." // the command has ended: on both; on stdout, status and files follow
)

// What a status says of /out.
const (
	outEmpty = 0
	outTar   = 1 // a tar stream of it follows
	outNoTar = 2 // the image has no tar
)

// newLine returns the line that runs cmd in a container of its own. Every mark
// begins with nonce. known says that the program is there.
func (e *engine) newLine(cmd *sandbox.Command, nonce string, known bool) string {
	return fmt.Sprintf("unset skills_mcp_line; skills_mcp_deadline %d; %s; skills_mcp_end %s; %s", deadline(cmd), invocation(cmd, nonce, known), nonce, e.lastWords())
}

// keptLine returns the line that runs cmd in a container that is kept: what the
// command leaves behind stays.
func keptLine(cmd *sandbox.Command, nonce string, known bool) string {
	return "unset skills_mcp_line; skills_mcp_kills; skills_mcp_k=$k; " + invocation(cmd, nonce, known) +
		"; skills_mcp_kept " + nonce + " $skills_mcp_k; exit 0\n"
}

// invocation is the part of the line that runs the command's program, up to its
// exit status.
func invocation(cmd *sandbox.Command, nonce string, known bool) string {
	var b strings.Builder
	plain, odd := variables(cmd.Env)
	program := word(cmd.Argv[0])
	if !known && !strings.Contains(cmd.Argv[0], "/") {
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
	if cmd.Stdin == nil {
		b.WriteString(" </dev/null")
	}
	b.WriteString(")")
	return b.String()
}

// deadline is when the timer of a container ends cmd, in seconds from its begin:
// within ten of that, and later than a server would.
func deadline(cmd *sandbox.Command) int64 {
	const grace = 5
	return int64(math.Ceil((cmd.Limits.Timeout + cmd.Waits).Seconds())) + grace
}

var (
	// variableName matches the names that a shell can export.
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// shellVariable are the names that mean something to one of the shells, or to
	// a line of ours.
	shellVariable = regexp.MustCompile(`^(_|BASH.*|COMP_.*|DIRSTACK|EGID|EPOCH.*|EUID|FUNCNAME|GID|GROUPS|HIST.*|LANG|LANGUAGE|LC_.*|LINENO|OPT(ARG|ERR|IND)|PATH|PIPESTATUS|POSIXLY_CORRECT|PPID|RANDOM|SECONDS|SHELLOPTS|SRANDOM|TMOUT|UID|skills_mcp_.*)$`)
)

// variables splits an environment into plain variables, which a shell can export,
// and odd ones, which env(1) sets. Everybody on the machine can read its command
// line: no secret has such a name.
func variables(env []string) (plain, odd []string) {
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if variableName.MatchString(name) && !shellVariable.MatchString(name) {
			plain = append(plain, entry)
		} else {
			odd = append(odd, entry)
		}
	}
	return plain, odd
}

// word writes s as one word of a shell, in one line.
func word(s string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "\n", `'"$skills_mcp_nl"'`).Replace(s) + "'"
}
