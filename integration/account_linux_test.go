package integration

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// An account is a person's home folder, with a configuration, a workspace and skills.
// Servers and commands in it share the state folder, as those of one person do.
type account struct {
	t                       *testing.T
	driver                  string
	home, workspace, skills string
	under                   []string // the command that starts servers; none starts them itself
}

// allForms is the policy of a person whose client has them answer its forms, as these tests
// do, who answer faster than anybody reads.
const allForms = "policy: {forms: all}\n"

// newAccount returns an account without skills. more is added to its configuration.
func newAccount(t *testing.T, driver, more string) *account {
	t.Helper()
	return accountAt(t, t.TempDir(), driver, more)
}

// accountAt is newAccount with the home folder, which exists and is empty.
func accountAt(t *testing.T, home, driver, more string) *account {
	t.Helper()
	a := &account{t: t, driver: driver, home: home, workspace: filepath.Join(home, "project"), skills: filepath.Join(home, "skills")}
	for _, dir := range []string{a.workspace, a.skills} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Skills run as nobody where the tests run as root.
	if err := os.Chmod(a.workspace, 0o777); err != nil {
		t.Fatal(err)
	}
	a.configure(more)
	return a
}

// configure writes the configuration anew.
func (a *account) configure(more string) {
	a.t.Helper()
	text := configuration() + fmt.Sprintf("skills: [%q]\nworkspaces: [%q]\nroots: {samples: false}\n", a.skills, a.workspace) + more
	writeFile(a.t, filepath.Join(a.home, ".config", "skills-mcp", "config.yaml"), text)
}

// state returns a path in the state folder.
func (a *account) state(names ...string) string {
	return filepath.Join(append([]string{a.home, ".local", "state", "skills-mcp"}, names...)...)
}

// skill writes a file of a skill, whose first name is that of its folder.
func (a *account) skill(path, content string) {
	a.t.Helper()
	writeFile(a.t, filepath.Join(a.skills, path), content)
}

// environ returns the environment of the account's programs.
func (a *account) environ() []string {
	return []string{"HOME=" + a.home, "PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "DOCKER_HOST=" + os.Getenv("DOCKER_HOST"), "SKILLS_MCP_SANDBOX=" + a.driver}
}

// command returns a command of the program under test, or of another one with a path.
func (a *account) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(a.t.Context(), name, args...)
	cmd.Dir, cmd.Env = a.workspace, a.environ()
	return cmd
}

// run runs skills-mcp without a terminal, and returns what it printed and its exit code.
func (a *account) run(args ...string) (out string, code int) {
	a.t.Helper()
	return a.finish(a.command(binary, args...))
}

// finish runs a command in a session without a terminal.
func (a *account) finish(cmd *exec.Cmd) (out string, code int) {
	a.t.Helper()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	printed, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		a.t.Fatal(err)
	}
	return string(printed), cmd.ProcessState.ExitCode()
}

// terminal runs skills-mcp on a terminal of its own, answers its question as [converse]
// does, and returns what was on the screen and the exit code.
func (a *account) terminal(answer string, args ...string) (screen string, code int) {
	a.t.Helper()
	cmd := a.command(binary, args...)
	person := a.attach(cmd)
	defer person.Close()
	screen = string(converse(person, answer))
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		a.t.Fatal(err)
	}
	return screen, cmd.ProcessState.ExitCode()
}

// terminalCodes matches what skills-mcp itself sends to a terminal, such as to clear it.
var terminalCodes = regexp.MustCompile("\\x1b\\[[0-9;?]*[A-Za-z]|\r")

// attach starts a command on a new terminal, and returns the person's end of it.
func (a *account) attach(cmd *exec.Cmd) *os.File {
	a.t.Helper()
	person, program, err := openTerminal()
	if err != nil {
		a.t.Fatal(err)
	}
	defer program.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		person.Close()
		a.t.Fatal(err)
	}
	return person
}

// serve starts a server on standard input and output, and returns a client of a
// generation of the protocol with capabilities, which are JSON. The server has to end
// well, with the test.
func (a *account) serve(era, capabilities string, args ...string) *toolClient {
	a.t.Helper()
	c := a.start(era, capabilities, args...)
	a.t.Cleanup(func() {
		if err := c.close(); err != nil {
			a.t.Errorf("the server did not end well: %v", err)
		}
	})
	return c
}

// start is serve for a server whose end the test sees to.
func (a *account) start(era, capabilities string, args ...string) *toolClient {
	a.t.Helper()
	line := slices.Concat(a.under, []string{binary, "serve"}, args)
	cmd := a.command(line[0], line[1:]...)
	// The test's context ends before its cleanups.
	cmd = &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env}
	log := &lockedBuffer{}
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	c := &toolClient{wire: &wire{a.t, in, bufio.NewReader(out)}, modern: era == "modern", capabilities: capabilities, cmd: cmd, log: log}
	a.t.Cleanup(func() {
		if a.t.Failed() {
			a.t.Logf("the server says: %s", log)
		}
	})
	c.greet()
	return c
}

// inspector returns how MCP Inspector starts a server of the account.
func (a *account) inspector(era string) []string {
	target := []string{"--protocol-era", era}
	for _, variable := range a.environ() {
		if !strings.HasSuffix(variable, "=") {
			target = append(target, "-e", variable)
		}
	}
	return slices.Concat(target, []string{"--", binary, "serve"})
}
