package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/approval/tty"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/spf13/cobra"
)

// terminal returns the terminal at which the person of a run is asked, or nil. Standard
// input may belong to a skill; without standard error on a terminal, nobody sees the
// question.
func terminalOf(s *setup.Settings, a *app) approval.Terminal {
	in, _ := a.stdin.(tty.Input)
	if in == nil || !isTerminal(in) {
		name := "/dev/tty"
		if runtime.GOOS == "windows" {
			name = "CONIN$"
		}
		file, err := os.OpenFile(name, os.O_RDWR, 0) // until the program ends
		if err != nil {
			return nil
		}
		in = file
	}
	terminal, err := newTerminal(in, a.stderr, a.proof(s.Policy.Passphrase))
	if err != nil {
		return nil
	}
	return terminal
}

// proof returns the options of a terminal that asks for the passphrase of a hash, with which
// the agent signs then; "" asks for none.
func (a *app) proof(hash string) *tty.Options {
	options := &tty.Options{Dumb: os.Getenv("TERM") == "dumb"}
	if hash != "" {
		options.Passphrase = func(text string) bool { return approval.Unlock(hash, text, a.agent) }
	}
	return options
}

// newTerminal returns the terminal of two streams. The error says why nobody can be asked
// there.
func newTerminal(in, out any, options *tty.Options) (*tty.Terminal, error) {
	input, readable := in.(tty.Input)
	output, writable := out.(tty.Output)
	if !readable || !writable {
		return nil, errors.New("this is no terminal, where a person could answer")
	}
	return tty.New(input, output, options)
}

// confirm shows a question and asks the person on the terminal to type a number, and for
// the passphrase of the settings, which were read before.
func (a *app) confirm(ctx context.Context, question, action string) error {
	terminal, err := newTerminal(a.stdin, a.stderr, a.proof(a.passphrase))
	if err != nil {
		return fmt.Errorf("this is a decision of a person: %w", err)
	}
	yes, err := terminal.Ask(ctx, strings.Split(strings.TrimSuffix(question, "\n"), "\n"), action)
	if err == nil && !yes {
		err = errors.New("it was not confirmed on the terminal")
	}
	return err
}

// scriptTokenVariable holds the token by which a script approves.
const scriptTokenVariable = "SKILLS_MCP_APPROVAL_TOKEN"

// provedScript returns an error unless the environment has the token of policy.script_token,
// with which the agent signs then.
func (a *app) provedScript(s *setup.Settings) error {
	switch {
	case s.Policy.ScriptToken == "":
		return errors.New("--yes needs a token that the person set up, as policy.script_token in the configuration; there is none")
	case !approval.Unlock(s.Policy.ScriptToken, os.Getenv(scriptTokenVariable), a.agent):
		return fmt.Errorf("%s does not hold the token of policy.script_token", scriptTokenVariable)
	}
	return nil
}

// A consent asks a person about changes of the installed skills.
type consent struct {
	*app
	yes bool // the token of a script answers
	// proved waits for the check of the token that prove has started; nil if none is.
	proved func() error
}

// prove starts the check of a script's token, which takes as long as a small download and
// goes on beside it. The caller calls the result before it ends.
func (c *consent) prove(s *setup.Settings) (wait func() error) {
	if !c.yes {
		return func() error { return nil }
	}
	result := make(chan error, 1)
	go func() { result <- c.provedScript(s) }()
	c.proved = sync.OnceValue(func() error { return <-result })
	return c.proved
}

// register adds the flag of scripts.
func (c *consent) register(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "ask nobody, with the token of policy.script_token in "+scriptTokenVariable)
}

// ask asks whether a change is made.
func (c *consent) ask(ctx context.Context, s *setup.Settings, change *installation.Change, action string) error {
	lines := change.Lines()
	if !c.yes {
		return c.confirmShown(ctx, lines, change.Action(action))
	}
	fmt.Fprintln(c.stderr, strings.Join(lines, "\n"))
	if change.Suspicious() {
		return errors.New("the source states that it is suspicious, which no script accepts; look at it yourself, in a terminal and without --yes")
	}
	if grown := change.Grown(); len(grown) > 0 {
		return fmt.Errorf("%s gains something, which only a person accepts; look at it yourself, in a terminal and without --yes", plain.Visible(strings.Join(grown, ", ")))
	}
	if c.proved != nil {
		return c.proved()
	}
	return c.provedScript(s)
}

// confirmShown is confirm for lines that are shown also where nobody can be asked.
func (c *consent) confirmShown(ctx context.Context, lines []string, action string) error {
	if !isTerminal(c.stdin) || !isTerminal(c.stderr) {
		fmt.Fprintln(c.stderr, strings.Join(lines, "\n"))
	}
	err := c.confirm(ctx, "skills-mcp: "+action+"?\n"+strings.Join(lines, "\n"), action)
	if err != nil && (!isTerminal(c.stdin) || !isTerminal(c.stderr)) {
		err = fmt.Errorf("%w; run it in a terminal of your own, or as a script with --yes and a token (docs/install.md)", err)
	}
	return err
}
