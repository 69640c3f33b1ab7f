package lab

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// An Account is a person's home folder, with a configuration, a workspace and skills.
// Servers and commands in it share the state folder, as those of one person do.
type Account struct {
	T                       *testing.T
	driver                  string
	Home, Workspace, Skills string
	Under                   []string // the command that starts servers; none starts them itself
	Env                     []string // further variables of its programs
	Program                 string   // in place of Binary; "" is none
}

// AllForms is the policy of a person whose client has them answer its forms, as these tests
// do, who answer faster than anybody reads.
const AllForms = "policy: {forms: all}\n"

// NewAccount returns an account without skills. more is added to its configuration.
func NewAccount(t *testing.T, driver, more string) *Account {
	t.Helper()
	return AccountAt(t, t.TempDir(), driver, more)
}

// AccountAt is [NewAccount] with the home folder, which exists and is empty.
func AccountAt(t *testing.T, home, driver, more string) *Account {
	t.Helper()
	a := &Account{T: t, driver: driver, Home: home, Workspace: filepath.Join(home, "project"), Skills: filepath.Join(home, "skills")}
	for _, dir := range []string{a.Workspace, a.Skills} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Skills run as nobody where the tests run as root.
	if err := os.Chmod(a.Workspace, 0o777); err != nil {
		t.Fatal(err)
	}
	a.Configure(more)
	return a
}

// Configure writes the configuration anew.
func (a *Account) Configure(more string) {
	a.T.Helper()
	text := Configuration() + fmt.Sprintf("skills: [%q]\nworkspaces: [%q]\nroots: {samples: false}\n", a.Skills, a.Workspace) + more
	WriteFile(a.T, filepath.Join(a.Home, ".config", "skills-mcp", "config.yaml"), text)
}

// State returns a path in the state folder.
func (a *Account) State(names ...string) string {
	return filepath.Join(append([]string{a.Home, ".local", "state", "skills-mcp"}, names...)...)
}

// Skill writes a file of a skill, whose first name is that of its folder.
func (a *Account) Skill(path, content string) {
	a.T.Helper()
	WriteFile(a.T, filepath.Join(a.Skills, path), content)
}

// environ returns the environment of the account's programs.
func (a *Account) environ() []string {
	return append([]string{"HOME=" + a.Home, "PATH=" + filepath.Dir(Binary) + ":" + os.Getenv("PATH"), "DOCKER_HOST=" + os.Getenv("DOCKER_HOST"), "SKILLS_MCP_SANDBOX=" + a.driver}, a.Env...)
}

// Command returns a command of the program under test, or of another one with a path.
func (a *Account) Command(name string, args ...string) *exec.Cmd {
	if name == Binary {
		name = cmp.Or(a.Program, Binary)
	}
	cmd := exec.CommandContext(a.T.Context(), name, args...)
	cmd.Dir, cmd.Env = a.Workspace, a.environ()
	return cmd
}

// Run runs skills-mcp without a terminal, and returns what it printed and its exit code.
func (a *Account) Run(args ...string) (out string, code int) {
	a.T.Helper()
	return a.Finish(a.Command(Binary, args...))
}

// Finish runs a command in a session without a terminal.
func (a *Account) Finish(cmd *exec.Cmd) (out string, code int) {
	a.T.Helper()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	printed, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		a.T.Fatal(err)
	}
	return string(printed), cmd.ProcessState.ExitCode()
}

// Terminal runs skills-mcp on a terminal of its own, answers its question as [converse]
// does, and returns what was on the screen and the exit code.
func (a *Account) Terminal(answer string, args ...string) (screen string, code int) {
	a.T.Helper()
	cmd := a.Command(Binary, args...)
	person := a.attach(cmd)
	defer person.Close()
	screen = string(converse(person, answer))
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		a.T.Fatal(err)
	}
	return screen, cmd.ProcessState.ExitCode()
}

// TerminalCodes matches what skills-mcp itself sends to a terminal, such as to clear it.
var TerminalCodes = regexp.MustCompile("\\x1b\\[[0-9;?]*[A-Za-z]|\r")

// attach starts a command on a new terminal, and returns the person's end of it.
func (a *Account) attach(cmd *exec.Cmd) *os.File {
	a.T.Helper()
	person, program, err := openTerminal()
	if err != nil {
		a.T.Fatal(err)
	}
	defer program.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		person.Close()
		a.T.Fatal(err)
	}
	return person
}

// Serve starts a server on standard input and output, and returns a client of a
// generation of the protocol with capabilities, which are JSON. The server has to end
// well, with the test.
func (a *Account) Serve(era, capabilities string, args ...string) *ToolClient {
	a.T.Helper()
	c := a.Start(era, capabilities, args...)
	a.T.Cleanup(func() {
		if err := c.Close(); err != nil {
			a.T.Errorf("the server did not end well: %v", err)
		}
	})
	return c
}

// Start is serve for a server whose end the test sees to.
func (a *Account) Start(era, capabilities string, args ...string) *ToolClient {
	a.T.Helper()
	line := slices.Concat(a.Under, []string{Binary, "serve"}, args)
	cmd := a.Command(line[0], line[1:]...)
	// The test's context ends before its cleanups.
	cmd = &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env}
	log, received := &lockedBuffer{}, &lockedBuffer{}
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		a.T.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		a.T.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		a.T.Fatal(err)
	}
	c := &ToolClient{Wire: &Wire{a.T, in, bufio.NewReader(io.TeeReader(out, received))}, Modern: era == "modern", capabilities: capabilities, Cmd: cmd, Log: log, Received: received}
	a.T.Cleanup(func() {
		if a.T.Failed() {
			a.T.Logf("the server says: %s", log)
		}
	})
	c.greet()
	return c
}

// Inspector returns how MCP Inspector starts a server of the account.
func (a *Account) Inspector(era string) []string {
	target := []string{"--protocol-era", era}
	for _, variable := range a.environ() {
		if !strings.HasSuffix(variable, "=") {
			target = append(target, "-e", variable)
		}
	}
	return slices.Concat(target, []string{"--", Binary, "serve"})
}
