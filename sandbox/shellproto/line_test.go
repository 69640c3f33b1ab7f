package shellproto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// shells are those that images have as /bin/sh, of those that this system has.
func shells(t testing.TB) map[string][]string {
	t.Helper()
	all := map[string][]string{"dash": {"dash"}, "bash": {"bash", "--posix"}, "busybox": {"busybox", "sh"}}
	for name, argv := range all {
		program, err := exec.LookPath(argv[0])
		if err == nil {
			argv[0] = program
			continue
		}
		delete(all, name)
		if os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" && name != "busybox" {
			t.Fatalf("this test needs %s", name)
		}
		t.Logf("without %s: it is not installed", name)
	}
	if len(all) == 0 {
		t.Skip("this test needs dash, bash or busybox, and none is installed")
	}
	return all
}

// shows is a program that prints its arguments and the variables whose name has an X in
// it, each with a NUL byte, and then its input.
func shows(t testing.TB) []string {
	t.Helper()
	perl, err := exec.LookPath("perl")
	if err != nil {
		if os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" {
			t.Fatal("this test needs perl")
		}
		t.Skip("this test needs perl, which is not installed")
	}
	return []string{perl, "-e", `binmode STDIN; print "$_\0" for @ARGV; for (sort keys %ENV) { print "$_=$ENV{$_}\0" if /X/ } local $/; print <STDIN>`, "--"}
}

// shown returns the output of shows.
func shown(args, env []string, stdin string) string {
	env = slices.Clone(env)
	slices.Sort(env)
	var b strings.Builder
	for _, s := range slices.Concat(args, env) {
		b.WriteString(s + "\x00")
	}
	return b.String() + stdin
}

// A spoken is the result of a line.
type spoken struct {
	stdout, stderr string
	code           int
}

// speak has a shell of this system evaluate the part of cmd's line that runs
// its program, as a container's would, and returns its output. The rest of the
// line ends all processes, here the tester's own.
func speak(t testing.TB, shell []string, cmd *sandbox.Command, stdin string) spoken {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, shell[0], append(shell[1:], "-c", Script)...)
	c.Dir = os.TempDir()
	c.Env = []string{"PATH=" + os.Getenv("PATH")}
	if stdin != "" {
		cmd.Stdin = strings.NewReader("") // only that there is one counts
	}
	line := "unset skills_mcp_line; " + Line{}.invocation(cmd, nonce) + "; exit $?\n"
	if strings.Count(line, "\n") != 1 {
		t.Fatalf("it is more than one line: %q", line)
	}
	var stdout, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(line+stdin), &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return spoken{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// everyShell runs a test with every shell.
func everyShell(t *testing.T, test func(t *testing.T, shell []string)) {
	for name, argv := range shells(t) {
		t.Run(name, func(t *testing.T) { test(t, argv) })
	}
}

// oddStrings returns strings that break careless quoting.
func oddStrings() map[string]string {
	control, marks := "", ""
	for c := 1; c < 0x20; c++ {
		control += string(rune(c))
	}
	for c := 0x80; c <= 0xa0; c++ { // shells use some of these bytes themselves
		marks += string(rune(c)) + "\u0441"
	}
	return map[string]string{
		"empty":         "",
		"space":         " ",
		"newline":       "\n",
		"newlines":      "\n\na\n\n",
		"return":        "a\r\nb\r",
		"quote":         "'",
		"quotes":        `''"'\''"`,
		"backslashes":   `\ \\ \n \' \`,
		"at the end":    `a\`,
		"substitutions": "$HOME ${PATH} $(id) `id` $((1+1)) $skills_mcp_nl",
		"globs":         "* ? [a-z] ~ {a,b}",
		"operators":     "; & | < > ( ) { } ! # % ^ &&",
		"option":        "-n",
		"end":           "--",
		"control":       control,
		"delete":        "\x7f",
		"marks":         marks,
		"wide":          "žluťoučký кůň 馬 🐴 \u2028 \ufeff \U0010ffff",
		"long":          strings.Repeat("x", maxString),
		"long, odd":     strings.Repeat("'\n", maxString/16) + strings.Repeat("é\\", maxString/16),
		"mark":          begins + ends + "0 0 0",
	}
}

func TestLineArguments(t *testing.T) {
	show := shows(t)
	everyShell(t, func(t *testing.T, shell []string) {
		for name, odd := range oddStrings() {
			args := []string{odd, "", odd, "last"}
			got := speak(t, shell, &sandbox.Command{Argv: append(slices.Clone(show), args...)}, "")
			if want := begins + shown(args, nil, ""); got.stdout != want || got.stderr != "" || got.code != 0 {
				t.Errorf("%s: said %.200q, and %.200q, code %d; want %.200q", name, got.stdout, got.stderr, got.code, want)
			}
		}
	})
}

func TestLineVariables(t *testing.T) {
	show := shows(t)
	everyShell(t, func(t *testing.T, shell []string) {
		for name, odd := range oddStrings() {
			if len(odd) > maxString-20 {
				odd = odd[:maxString-20] // with its name
			}
			env := []string{"SKILL_X=" + odd, "X=" + odd, "a.b-X=" + odd, "1X=" + odd, "Z X=" + odd}
			got := speak(t, shell, &sandbox.Command{Argv: show, Env: env}, "")
			if want := begins + shown(nil, env, ""); got.stdout != want || got.stderr != "" || got.code != 0 {
				t.Errorf("%s: said %.200q, and %.200q, code %d; want %.200q", name, got.stdout, got.stderr, got.code, want)
			}
		}
	})
}

// Variables that mean something to a shell mean nothing to the one that waits.
func TestLineShellVariables(t *testing.T) {
	show := shows(t)
	show[2] = strings.Replace(show[2], "if /X/", "if /X|^(IFS|PS4|ENV|BASH_ENV|PPID|UID|OPTIND|skills_mcp_.*|LC_ALL|s|k|f)$/", 1)
	env := []string{
		"IFS=x", "PS4=$(id)", "ENV=/X/nowhere", "BASH_ENV=/X/nowhere", "PPID=1", "UID=0", "OPTIND=x", "POSIXLY_CORRECT=X",
		"skills_mcp_nl=no", "skills_mcp_line=no", "LC_ALL=C", "s=1", "k=2", "f=3", "X=1",
	}
	everyShell(t, func(t *testing.T, shell []string) {
		args := []string{"a\nb"}
		got := speak(t, shell, &sandbox.Command{Argv: append(slices.Clone(show), args...), Env: env}, "")
		if want := begins + shown(args, env, ""); got.stdout != want || got.stderr != "" {
			t.Errorf("said %q, and %q; want %q", got.stdout, got.stderr, want)
		}
	})
}

// No secret is on the command line of another program: everybody on the machine
// can read it there.
func TestLineSecrets(t *testing.T) {
	show := shows(t)
	dir := t.TempDir()
	lines := filepath.Join(dir, "lines")
	spy := fmt.Sprintf("#!%s\nprintf '%%s\\n' \"$@\" >>%s\nexec /usr/bin/env \"$@\"\n", shells(t)["dash"][0], lines)
	if err := os.WriteFile(filepath.Join(dir, "env"), []byte(spy), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	everyShell(t, func(t *testing.T, shell []string) {
		env := []string{"API_KEY_X=5ecret", "X=5ecret '\n'", "_X=5ecret", "lower_X=5ecret", "SKILL_X=5ecret", "LC_X=C"}
		got := speak(t, shell, &sandbox.Command{Argv: show, Env: env}, "")
		if want := begins + shown(nil, env, ""); got.stdout != want || got.stderr != "" {
			t.Errorf("said %q, and %q; want %q", got.stdout, got.stderr, want)
		}
		said, err := os.ReadFile(lines)
		if err != nil || strings.Contains(string(said), "5ecret") {
			t.Errorf("these were arguments: %s, error %v", said, err)
		}
	})
}

// The input after the line is the program's, to the last byte.
func TestLineStdin(t *testing.T) {
	show := shows(t)
	all := make([]byte, 0, 1<<16)
	for i := range 1 << 16 {
		all = append(all, byte(i>>8), byte(i))
	}
	everyShell(t, func(t *testing.T, shell []string) {
		for _, stdin := range []string{"", "x", "\n", "\x00", "no newline", "echo no\n", string(all)} {
			got := speak(t, shell, &sandbox.Command{Argv: show}, stdin)
			if want := begins + stdin; got.stdout != want {
				t.Errorf("said %.200q, want %.200q", got.stdout, want)
			}
		}
	})
}

// A program counts, whatever the shell has of the same name.
func TestLineBuiltins(t *testing.T) {
	dir := t.TempDir()
	names := []string{"echo", "test", "true", "false", "[", "printf", "exec", "cd", "exit", "kill", "eval", ":", "if"}
	for _, name := range names {
		program := fmt.Sprintf("#!%s\n/bin/echo program $#\n", shells(t)["dash"][0])
		if err := os.WriteFile(filepath.Join(dir, name), []byte(program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	everyShell(t, func(t *testing.T, shell []string) {
		if prefersApplets(t, shell, dir) {
			t.Skip("SKIPPED: this busybox was built to prefer its own commands to programs in PATH, as Debian's busybox-static is")
		}
		for _, name := range names {
			for _, env := range [][]string{nil, {"ODD=1"}} {
				env = append(env, "PATH="+dir+":"+os.Getenv("PATH"))
				got := speak(t, shell, &sandbox.Command{Argv: []string{name, "-n", "x"}, Env: env}, "")
				if want := begins + "program 2\n"; got.stdout != want || got.code != 0 {
					t.Errorf("%s with %.5s: said %q, and %q, code %d", name, env, got.stdout, got.stderr, got.code)
				}
			}
		}
	})
}

// prefersApplets reports whether even exec runs a shell's own echo instead of the one in
// dir. No line that is sent can change it: the commands of such an image are busybox's.
func prefersApplets(t *testing.T, shell []string, dir string) bool {
	t.Helper()
	cmd := exec.Command(shell[0], append(shell[1:], "-c", "exec echo x")...)
	cmd.Env = []string{"PATH=" + dir}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out) == "x\n"
}

// A program is looked for where the command says, and with a variable of any
// name.
func TestLinePath(t *testing.T) {
	dir := t.TempDir()
	program := fmt.Sprintf("#!%s\n/bin/echo program $SKILL_A $ODD\n", shells(t)["dash"][0])
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	everyShell(t, func(t *testing.T, shell []string) {
		for _, test := range []struct {
			env  []string
			want string
		}{
			{[]string{"PATH=" + dir}, begins + "program\n"},
			{[]string{"PATH=" + dir, "SKILL_A=a"}, begins + "program a\n"},
			{[]string{"ODD=b", "PATH=" + dir, "SKILL_A=a"}, begins + "program a b\n"},
			{[]string{"PATH=/nowhere:" + dir, "LC_ALL=C"}, begins + "program\n"},
			{[]string{"PATH=/nowhere"}, nonce + string(markMissing)},
			{nil, nonce + string(markMissing)},
		} {
			if got := speak(t, shell, &sandbox.Command{Argv: []string{"mine"}, Env: test.env}, ""); got.stdout != test.want {
				t.Errorf("%q: said %q, and %q; want %q", test.env, got.stdout, got.stderr, test.want)
			}
		}
	})
}

func TestLineCode(t *testing.T) {
	everyShell(t, func(t *testing.T, shell []string) {
		for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "exit 255": 255, "kill -TERM $$": 143, "kill -KILL $$": 137} {
			if got := speak(t, shell, &sandbox.Command{Argv: []string{"sh", "-c", script}}, ""); got.code != want {
				t.Errorf("%s: code %d, want %d", script, got.code, want)
			}
		}
	})
}

// FuzzLine passes anything that a command may have.
func FuzzLine(f *testing.F) {
	for _, odd := range oddStrings() {
		if len(odd) < 1<<10 {
			f.Add(odd, odd, odd)
		}
	}
	show, all := shows(f), shells(f)
	f.Fuzz(func(t *testing.T, arg, value, stdin string) {
		args, env := []string{arg, arg + value}, []string{"SKILL_X=" + value, "X=" + value}
		if checkStrings(slices.Concat(show, args), env) != nil {
			return // it is refused
		}
		for name, shell := range all {
			cmd := &sandbox.Command{Argv: slices.Concat(show, args), Env: env}
			got := speak(t, shell, cmd, stdin)
			if want := begins + shown(args, env, stdin); got.stdout != want {
				t.Errorf("%s: said %q, and %q; want %q", name, got.stdout, got.stderr, want)
			}
		}
	})
}

// Where the line comes on a descriptor of its own, the program reads the shell's standard
// input.
func TestLineApart(t *testing.T) {
	everyShell(t, func(t *testing.T, shell []string) {
		for _, stdin := range []string{"", "in\x00put\n"} {
			cmd := &sandbox.Command{Argv: append(shows(t), "a b"), Env: []string{"X=y"}}
			if stdin != "" {
				cmd.Stdin = strings.NewReader("")
			}
			file := filepath.Join(t.TempDir(), "line")
			line := "unset skills_mcp_line; " + Line{Apart: true}.invocation(cmd, nonce) + "; exit $?\n"
			if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), shell[0], append(shell[1:], "-c", "exec 5<&0 <'"+file+"'\n"+Script)...)
			c.Env, c.Stdin = []string{"PATH=" + os.Getenv("PATH")}, strings.NewReader("in\x00put\n")
			out, err := c.Output()
			if want := nonce + markBegin + shown([]string{"a b"}, []string{"X=y"}, stdin); err != nil || string(out) != want {
				t.Errorf("input %q: output %q, error %v; want %q", stdin, out, err, want)
			}
		}
	})
}

// A shell that drains takes all input that its command has left, after it has said how the
// command ended.
func TestLineDrain(t *testing.T) {
	everyShell(t, func(t *testing.T, shell []string) {
		for _, drain := range []bool{false, true} {
			cmd := &sandbox.Command{Argv: []string{"echo", "done"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdin: strings.NewReader("")}
			c := exec.CommandContext(t.Context(), shell[0], append(shell[1:], "-c", Script)...)
			stdin, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			c.Stdout = &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			// More than a pipe holds.
			_, failed := io.WriteString(stdin, Line{Session: true, Drain: drain}.text(cmd, nonce)+strings.Repeat("y", 1<<20))
			_ = stdin.Close()
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
			if want := begins + "done\n" + ends; !strings.HasPrefix(out.String(), want) || (failed == nil) != drain {
				t.Errorf("drain %t: said %q, want %q; the input ended with %v", drain, out.String(), want, failed)
			}
		}
	})
}
