package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"

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
	cmd := exec.Command(binary, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "SKILLS_MCP_SANDBOX", "SKILLS_MCP_CONFIG", "DOCKER_HOST", "TMPDIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, ts.Stdout(), program
	if input != nil {
		cmd.Stdin = input
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
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
				answer = string(asked[1])
			}
			fmt.Fprintln(person, answer)
			answer = ""
		}
		if err != nil { // a terminal without a program is an error
			return bytes.ReplaceAll(screen, []byte("\r\n"), []byte("\n"))
		}
	}
}
