package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// A terminalConfirmer is a [policy.Approver] that asks the person at a terminal.
type terminalConfirmer struct {
	in   io.Reader
	out  io.Writer
	code string // the answer that they have to type
}

// newConfirmer returns the confirmer of a call, or nil if there is no terminal. The code
// is random, so that no prepared input confirms a call.
func newConfirmer(a *app) policy.Approver {
	if c := newTerminalConfirmer(a); c != nil {
		return c
	}
	return nil
}

// newTerminalConfirmer returns the confirmer at the terminal, or nil if there is none.
func newTerminalConfirmer(a *app) *terminalConfirmer {
	in := terminal(a)
	if in == nil {
		return nil
	}
	n, err := rand.Int(rand.Reader, big.NewInt(9000))
	if err != nil {
		return nil
	}
	return &terminalConfirmer{in, a.stderr, strconv.FormatInt(n.Int64()+1000, 10)}
}

// terminal returns the terminal to read answers from, or nil. Standard input may
// belong to a skill; without standard error on a terminal, nobody sees the question.
func terminal(a *app) io.Reader {
	if !isTerminal(a.stderr) {
		return nil
	}
	if isTerminal(a.stdin) {
		return a.stdin
	}
	name := "/dev/tty"
	if runtime.GOOS == "windows" {
		name = "CONIN$"
	}
	if file, err := os.OpenFile(name, os.O_RDWR, 0); err == nil && isTerminal(file) {
		return file // until the program ends
	}
	return nil
}

// Approve implements [policy.Approver]: it shows the call and asks for the code.
func (c *terminalConfirmer) Approve(ctx context.Context, p *run.Proposal) error {
	if p.Decision.Signatures > 1 {
		return &run.Error{Code: run.ApprovalRequired, Message: fmt.Sprintf("skill %s did not run: two people have to confirm it", p.Command.Skill)}
	}
	if err := c.ask(ctx, proposal(p), "run it"); err != nil {
		return &run.Error{Code: run.ApprovalRequired, Message: fmt.Sprintf("skill %s did not run: %v", p.Command.Skill, err), Err: err}
	}
	return nil
}

// ask shows a question, and asks for the code that means yes to the action.
func (c *terminalConfirmer) ask(ctx context.Context, question, action string) error {
	if _, err := io.WriteString(c.out, question); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Type %s to %s, anything else to leave it: ", c.code, action)
	typed := make(chan string, 1)
	go func() { typed <- readLine(c.in) }() // nothing ends a read of a terminal but the program's end
	select {
	case text := <-typed:
		if strings.TrimSpace(text) != c.code {
			return errors.New("it was not confirmed on the terminal")
		}
		return nil
	case <-ctx.Done():
		fmt.Fprintln(c.out)
		return context.Cause(ctx)
	}
}

// readLine reads one line and not a byte more: the rest is for a skill that asks.
func readLine(in io.Reader) string {
	var line []byte
	for b := make([]byte, 1); len(line) < 1024; {
		if n, err := in.Read(b); n == 0 || err != nil || b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	return string(line)
}

// proposal describes the call to confirm. Strangers' text is escaped, in lines of its
// own; the grants come last, next to the question.
func proposal(p *run.Proposal) string {
	var b strings.Builder
	row := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "  %-9s  %s\n", key, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "skills-mcp: %s is %s, so it runs only if you say so.\n", visible(p.Command.Skill), p.Decision.Class)
	key := "arguments"
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		row(key, "--%s %s", visible(name), visibleValue(p.Args[name]))
		key = ""
	}
	if key != "" {
		row(key, "none")
	}
	if _, argument := p.Command.Stdin.(*bytes.Reader); p.Command.Stdin != nil && !argument {
		row("stdin", "what you pass there")
	}
	row("runs", "%s", visible(command(p.Skill.Entry)))
	whose := ""
	if p.Skill.Workspace != "" {
		whose = ": a workspace's, which somebody else may have written"
	}
	row("skill", "%s, source %s%s", visible(p.Command.Skill), p.Skill.Source, whose)
	row("from", "%s", visible(cmp.Or(p.Skill.Dir, p.Skill.File)))
	row("digest", "%s", p.Digest)
	row("writes", "%s", visible(cmp.Or(strings.Join(writes(p), ", "), "no folder of yours")))
	row("connects", "%s", visible(cmp.Or(strings.Join(p.Command.Grant.Hosts, ", "), "nowhere")))
	row("is given", "%s", visible(cmp.Or(strings.Join(p.Variables, ", "), "no variable of yours")))
	return b.String()
}

// writes returns the folders that a run may write to.
func writes(p *run.Proposal) []string {
	if !p.Command.Grant.Write {
		return nil
	}
	return p.Command.Grant.Workspaces
}

// visibleValue renders a value as JSON, or a string as a Go literal.
func visibleValue(value any) string {
	if text, ok := value.(string); ok {
		return visible(strconv.Quote(text))
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return visible(fmt.Sprint(value))
	}
	return visible(strings.TrimSuffix(b.String(), "\n"))
}
