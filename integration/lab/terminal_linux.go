package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a new terminal: the person's, and the
// program's.
func openTerminal() (person, program *os.File, err error) {
	if person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		person.Close()
	}
	return person, program, err
}

// asksFor matches a program's request for consent.
var asksFor = regexp.MustCompile(`Type (\d+) to [^:]*anything else to leave it: `)

// terminal runs skills-mcp on a terminal, types an answer once it is asked for a
// yes, and wants an exit code: terminal 0 yes run deploy. "yes" is the number that
// is asked for. With "piped FILE" after it, standard input is that file. What is
// on the terminal is for stderr to look at.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: terminal CODE ANSWER [piped FILE] [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	answer, args := args[1], args[2:]
	person, program, err := openTerminal()
	ts.Check(err)
	defer person.Close()
	var input *os.File
	if args[0] == "piped" {
		input, err = os.Open(ts.MkAbs(args[1]))
		ts.Check(err)
		defer input.Close()
		args = args[2:]
	}
	cmd := onTerminal(ts, args)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, ts.Stdout(), program
	if input != nil {
		cmd.Stdin = input
	}
	err = cmd.Start()
	program.Close()
	ts.Check(err)
	_, err = ts.Stderr().Write(converse(person, answer))
	ts.Check(err)
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// onTerminal returns skills-mcp with the variables of a script, to be started on a terminal.
func onTerminal(ts *testscript.TestScript, args []string) *exec.Cmd {
	cmd := exec.Command(Binary, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "SKILLS_MCP_SANDBOX", "SKILLS_MCP_CONFIG", "DOCKER_HOST", "TMPDIR", "TERM", "NO_COLOR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	return cmd
}

// screen runs skills-mcp with all streams on a terminal of so many columns, and wants it to
// succeed: screen 80 list. What is on the screen at the end is for stdout to look at, with
// styles as <32>, and what was drawn in between for stderr.
func screen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: screen COLUMNS args...")
	}
	columns, err := strconv.ParseUint(args[0], 10, 16)
	ts.Check(err)
	person, program, err := openTerminal()
	ts.Check(err)
	defer person.Close()
	ts.Check(unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}))
	cmd := onTerminal(ts, args[1:])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	err = cmd.Start()
	program.Close()
	ts.Check(err)
	drawn := converse(person, "")
	_, err = ts.Stderr().Write(drawn)
	ts.Check(err)
	_, err = io.WriteString(ts.Stdout(), shown(string(drawn)))
	ts.Check(err)
	ts.Check(cmd.Wait())
}

// control matches a control sequence.
var control = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

// shown returns the lines that a terminal shows in the end. It knows carriage returns,
// styles, and that everything after the cursor is erased.
func shown(drawn string) string {
	var lines strings.Builder
	var line []string // characters with the styles before them
	at, style := 0, ""
	for drawn != "" {
		if found := control.FindStringSubmatch(drawn); found != nil {
			if found[2] == "J" {
				line = line[:min(at, len(line))]
			} else {
				style += "<" + found[1] + ">"
			}
			drawn = drawn[len(found[0]):]
			continue
		}
		r, n := utf8.DecodeRuneInString(drawn)
		drawn = drawn[n:]
		switch r {
		case '\r':
			at = 0
		case '\n':
			lines.WriteString(strings.Join(line, "") + style + "\n")
			line, at, style = nil, 0, ""
		default:
			line = append(line[:min(at, len(line))], append([]string{style + string(r)}, line[min(at+1, len(line)):]...)...)
			at, style = at+1, ""
		}
	}
	return lines.String() + strings.Join(line, "") + style
}

// converse reads a program's terminal until it ends, and types the answer where it
// is asked for.
func converse(person *os.File, answer string) []byte {
	var screen []byte
	pages := 0 // that were turned
	for chunk := make([]byte, 4096); ; {
		n, err := person.Read(chunk)
		screen = append(screen, chunk[:n]...)
		for ; pages < bytes.Count(screen, []byte("press Enter for the next one")); pages++ {
			fmt.Fprintln(person)
		}
		if asked := asksFor.FindSubmatch(screen); asked != nil && answer != "" {
			if answer == "yes" {
				answer = "$1"
			}
			answer = strings.Replace(answer, "$1", string(asked[1]), 1)
			fmt.Fprintln(person, answer)
			answer = ""
		}
		if err != nil { // a terminal without a program is an error
			return bytes.ReplaceAll(screen, []byte("\r\n"), []byte("\n"))
		}
	}
}
