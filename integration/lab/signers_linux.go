package lab

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// A Prompt is a text that a program shows on a terminal, and what the person types then.
// The number that the text asks for is $1.
type Prompt struct{ Shown, Typed string }

// Dialogue runs skills-mcp on a terminal, and types something at each prompt.
func (a *Account) Dialogue(prompts []Prompt, args ...string) (screen string, code int) {
	a.T.Helper()
	cmd := a.Command(Binary, args...)
	person := a.attach(cmd)
	defer person.Close()
	seen := 0
	for chunk := make([]byte, 4096); ; {
		n, err := person.Read(chunk)
		screen += string(chunk[:n])
		if page := strings.LastIndex(screen, "type q to leave it: "); page >= seen {
			fmt.Fprintln(person)
			seen = len(screen)
		}
		for len(prompts) > 0 {
			pattern := regexp.MustCompile(prompts[0].Shown)
			match := pattern.FindStringSubmatchIndex(screen[seen:])
			if match == nil {
				break
			}
			fmt.Fprintf(person, "%s\n", pattern.ExpandString(nil, prompts[0].Typed, screen[seen:], match))
			seen += match[1]
			prompts = prompts[1:]
		}
		if err != nil {
			break // a terminal without a program is an error
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		a.T.Fatal(err)
	}
	return screen, cmd.ProcessState.ExitCode()
}

// Hash returns the hash of a new passphrase.
func (a *Account) Hash(text string) string {
	a.T.Helper()
	screen, code := a.Dialogue([]Prompt{{`New passphrase: `, text}, {`(?i)again: `, text}}, "approve", "--new-passphrase")
	lines := strings.Fields(screen)
	if code != 0 || len(lines) == 0 {
		a.T.Fatalf("exit %d: %s", code, screen)
	}
	return lines[len(lines)-1]
}
