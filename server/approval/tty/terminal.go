// Package tty asks the person at a terminal to confirm a call. The question is shown page
// by page, so that nothing of it scrolls away unseen, and the answer is a random number,
// so that no prepared input confirms it.
//
// Start with [New].
package tty

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/skillsmcp/skills-mcp/server/approval"
)

// A Stream is one direction of a terminal.
type Stream interface{ Fd() uintptr }

// An Input is a terminal to read from.
type Input interface {
	io.Reader
	Stream
}

// An Output is a terminal to write to.
type Output interface {
	io.Writer
	Stream
}

// Options configure a [Terminal]. A nil *Options means the defaults.
type Options struct {
	// Passphrase reports whether a text is the person's passphrase, which is asked for
	// then; nil asks for none.
	Passphrase func(text string) bool
	// Dumb reports that the terminal cannot show a question page by page (TERM=dumb).
	Dumb bool
}

// A Terminal is an [approval.Terminal].
type Terminal struct {
	in         Input
	out        Output
	passphrase func(text string) bool
	number     func() (string, error)
}

// New returns the terminal of two streams. The error says why a person cannot be asked
// there. Options may be nil.
func New(in Input, out Output, options *Options) (*Terminal, error) {
	switch {
	case !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())):
		return nil, errors.New("this is no terminal, where a person could answer")
	case options != nil && options.Dumb:
		return nil, errors.New("this terminal is dumb (TERM=dumb), so a question cannot be shown page by page")
	}
	t := &Terminal{in: in, out: out, number: random}
	if options != nil {
		t.passphrase = options.Passphrase
	}
	return t, nil
}

// random returns a number of four digits.
func random() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(9000))
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(n.Int64()+1000, 10), nil
}

// Confirm implements [approval.Terminal]. One read of the input may outlive ctx: nothing
// ends a read of a terminal but the end of the program.
func (t *Terminal) Confirm(ctx context.Context, q *approval.Question) (approval.Scope, error) {
	return t.choose(ctx, q.Terminal(), q.Answers(), q.Action())
}

// Ask shows lines and reports whether the person confirms an action, such as "trust it".
// One read of the input may outlive ctx.
func (t *Terminal) Ask(ctx context.Context, lines []string, action string) (bool, error) {
	scope, err := t.choose(ctx, lines, []approval.Scope{approval.Once}, action)
	return scope == approval.Once, err
}

// choose shows lines and returns the answer of the person. Nothing that is typed is shown
// where a passphrase is asked for, as it may be typed ahead; the number is shown after it.
func (t *Terminal) choose(ctx context.Context, lines []string, scopes []approval.Scope, action string) (approval.Scope, error) {
	number, err := t.number()
	if err != nil {
		return approval.No, err
	}
	if t.passphrase != nil {
		defer hide(int(t.in.Fd()))()
	}
	if read, err := t.show(ctx, lines); err != nil || !read {
		return approval.No, err
	}
	text, err := t.prompt(ctx, choices(number, scopes, action))
	if err != nil {
		return approval.No, err
	}
	scope := chosen(text, number, scopes)
	if scope == approval.No || t.passphrase == nil {
		return scope, nil
	}
	fmt.Fprintln(t.out, text)
	if !t.proved(ctx) {
		return approval.No, nil
	}
	return scope, nil
}

// show shows lines page by page, and reports whether the person has seen all.
func (t *Terminal) show(ctx context.Context, lines []string) (bool, error) {
	pages := paginate(lines, t.size)
	for i, page := range pages {
		fmt.Fprintln(t.out, strings.Join(page, "\n"))
		if i == len(pages)-1 {
			break
		}
		text, err := t.prompt(ctx, fmt.Sprintf("-- page %d of %d: press Enter for the next one, or type q to leave it: ", i+1, len(pages)))
		if err != nil || text != "" {
			return false, err
		}
	}
	return true, nil
}

// choices returns the prompt of the answers. The number alone is the first of the scopes.
func choices(number string, scopes []approval.Scope, action string) string {
	var rules []string
	for _, scope := range scopes {
		if scope != approval.Once && scope != approval.Session {
			rules = append(rules, string(scope))
		}
	}
	once, more := fmt.Sprintf("Type %s to %s", number, action), ""
	switch {
	case scopes[0] != approval.Once:
		once = fmt.Sprintf("Type %s to %s by the rule %s", number, action, scopes[0])
		if slices.Contains(scopes, approval.Once) {
			more = fmt.Sprintf(", %s once to do so once", number)
		}
	case len(rules) > 0:
		more = fmt.Sprintf(", %s and %s to do so by that rule", number, strings.Join(rules, " or "))
	}
	return once + more + ", anything else to leave it: "
}

// chosen returns the answer that a text is.
func chosen(text, number string, scopes []approval.Scope) approval.Scope {
	words := strings.Fields(text)
	switch {
	case len(words) == 0 || words[0] != number || len(words) > 2:
		return approval.No
	case len(words) == 1:
		return scopes[0]
	case words[1] != string(approval.Session) && slices.Contains(scopes, approval.Scope(words[1])):
		return approval.Scope(words[1])
	}
	return approval.No
}

// prompt shows a prompt and reads a line, of which nothing was typed before.
func (t *Terminal) prompt(ctx context.Context, text string) (string, error) {
	flush(int(t.in.Fd()))
	fmt.Fprint(t.out, text)
	return t.read(ctx, func() (string, error) { return readLine(t.in) })
}

// proved asks for the passphrase, of a terminal that is hidden, and reports whether it is
// the person's.
func (t *Terminal) proved(ctx context.Context) bool {
	text, err := t.prompt(ctx, "Passphrase: ")
	if err != nil || !t.passphrase(text) {
		fmt.Fprintln(t.out, "That is not the passphrase.")
		return false
	}
	return true
}

// NewPassphrase asks for a new passphrase, twice.
func (t *Terminal) NewPassphrase(ctx context.Context) (string, error) {
	defer hide(int(t.in.Fd()))() // before the prompts
	first, err := t.prompt(ctx, "New passphrase: ")
	if err != nil {
		return "", err
	}
	second, err := t.prompt(ctx, "The same again: ")
	if err == nil && first != second {
		err = errors.New("they are not the same")
	}
	return first, err
}

// Hidden asks for a text that is not shown while it is typed.
func (t *Terminal) Hidden(ctx context.Context, prompt string) (string, error) {
	defer hide(int(t.in.Fd()))() // before the prompt
	return t.prompt(ctx, prompt)
}

// read calls a function that reads the input, until ctx is done.
func (t *Terminal) read(ctx context.Context, read func() (string, error)) (string, error) {
	type line struct {
		text string
		err  error
	}
	typed := make(chan line, 1)
	go func() {
		text, err := read()
		typed <- line{text, err}
	}()
	select {
	case l := <-typed:
		return strings.TrimSpace(l.text), l.err
	case <-ctx.Done():
		fmt.Fprintln(t.out)
		return "", context.Cause(ctx)
	}
}

// readLine reads one line and not a byte more: the rest is for a skill that asks.
func readLine(in io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < 4096; {
		n, err := in.Read(b)
		if err != nil && n == 0 {
			return "", err
		}
		if b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	return string(line), nil
}

// size returns the columns and rows of the terminal; 80 and 24 where it does not know
// them.
func (t *Terminal) size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil || columns == 0 || rows == 0 {
		return 80, 24
	}
	return columns, rows
}
