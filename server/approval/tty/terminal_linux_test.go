package tty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/server/approval"
)

// openTerminal returns the two ends of a new terminal of a size: the person's, and the
// program's.
func openTerminal(t *testing.T, columns, rows uint16) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { person.Close() })
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	err = errors.Join(err, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}))
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// confirm asks a question at a terminal whose person answers each prompt with the next
// text, after the prepared one was typed. It returns the answer and the screens before
// each prompt.
func confirm(t *testing.T, q *approval.Question, options *Options, prepared string, texts ...string) (approval.Scope, []string) {
	t.Helper()
	person, program := openTerminal(t, 80, 24)
	terminal, err := New(program, program, options)
	if err != nil {
		t.Fatal(err)
	}
	terminal.number = func() (string, error) { return "4821", nil }
	if _, err := person.WriteString(prepared); err != nil {
		t.Fatal(err)
	}
	var screens []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		var screen []byte
		for chunk := make([]byte, 4096); len(texts) > 0; {
			n, err := person.Read(chunk)
			if err != nil {
				return
			}
			screen = append(screen, chunk[:n]...)
			if bytes.HasSuffix(screen, []byte(": ")) {
				screens, screen = append(screens, string(screen)), nil
				_, _ = person.WriteString(texts[0] + "\n")
				texts = texts[1:]
			}
		}
	}()
	scope, err := terminal.Confirm(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	return scope, screens
}

// question is about a call with an argument of a length.
func question(length int) *approval.Question {
	return &approval.Question{
		Skill: "docx", Kind: "own", Place: "/home/ann", Class: "mutating", Caller: "a model", Runs: "edit.py", Needed: 1,
		Args:   []approval.Argument{{Name: "text", Value: `"` + strings.Repeat("x", length) + `"`, Size: length + 2}},
		Scopes: []approval.Scope{approval.Once, approval.Always},
	}
}

// A yes is the number, typed after the question, with one of the offered scopes.
func TestConfirm(t *testing.T) {
	for text, want := range map[string]approval.Scope{
		"4821": approval.Once, " 4821 ": approval.Once, "4821 always": approval.Always,
		"": approval.No, "y": approval.No, "yes": approval.No, "48210": approval.No, "4821 this session": approval.No, "4821 no": approval.No, "4821 once more": approval.No,
	} {
		if got, _ := confirm(t, question(1), nil, "", text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Input that was typed before the question does not answer it.
func TestPreparedInput(t *testing.T) {
	if got, _ := confirm(t, question(1), nil, "4821\n4821\n", ""); got != approval.No {
		t.Errorf("%q", got)
	}
	if got, _ := confirm(t, question(1), nil, "n\nn\n", "4821"); got != approval.Once {
		t.Errorf("%q", got)
	}
}

// A long question is shown page by page, none higher than the terminal, and the last one
// with the grant.
func TestPages(t *testing.T) {
	got, screens := confirm(t, question(5000), nil, "\n\n\n\n", "", "", "", "", "4821")
	if got != approval.Once || len(screens) != 5 {
		t.Fatalf("%q after %d pages", got, len(screens))
	}
	_, screens[0], _ = strings.Cut(screens[0], "skills-mcp itself asks") // after the echo of what was typed before
	for i, screen := range screens {
		if rows := strings.Count(screen, "\n") + 2; rows > 24 {
			t.Errorf("page %d has %d rows", i+1, rows)
		}
	}
	if last := screens[4]; !strings.Contains(last, "It may write to") || !strings.Contains(last, "Run it?") {
		t.Errorf("the last page is %q", last)
	}
	if got, _ := confirm(t, question(5000), nil, "", "", "q"); got != approval.No {
		t.Errorf("left: %q", got)
	}
}

// With a passphrase the number is not enough, and the passphrase is not shown.
func TestPassphrase(t *testing.T) {
	options := &Options{Passphrase: func(text string) bool { return text == "open sesame" }}
	for text, want := range map[string]approval.Scope{"open sesame": approval.Once, "4821": approval.No, "": approval.No} {
		if got, _ := confirm(t, question(1), options, "", "4821", text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// Nobody is asked on a stream that is no terminal, nor on one that shows no pages; and a
// question ends with its context.
func TestNoTerminal(t *testing.T) {
	person, program := openTerminal(t, 80, 24)
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := New(file, program, nil); err == nil {
		t.Error("no terminal to read from")
	}
	if _, err := New(program, file, nil); err == nil {
		t.Error("no terminal to write to")
	}
	terminal, err := New(program, program, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if scope, err := terminal.Confirm(ctx, question(1)); scope != approval.No || !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", scope, err)
	}
	_, _ = person.WriteString("\n") // ends the read
	if _, err := New(program, program, &Options{Dumb: true}); err == nil {
		t.Error("a dumb terminal")
	}
}

// A part of a stranger's line is marked as one, wherever it is wrapped.
func TestWrap(t *testing.T) {
	for line, want := range map[string]string{
		"abcdefgh": "abcdefgh", "abcdefghij": "abcdefgh|ij", "> abcdefghij": "> abcdef|> ghij", "> 日本語日本語": "> 日本語|> 日本語", "": "",
	} {
		if got := strings.Join(wrap(line, 8), "|"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// No character of a passphrase is shown: not where it is typed ahead, at the number, on
// another page, in the place of the number, nor a wrong one; and what is typed later is.
func TestPassphraseIsHidden(t *testing.T) {
	const secret = "open sesame"
	for name, test := range map[string]struct {
		length int
		typed  []string // at the prompts
		want   approval.Scope
	}{
		"in its turn":             {1, []string{"4821\n", secret + "\n"}, approval.Once},
		"ahead":                   {1, []string{"4821\n" + secret + "\n", secret + "\n"}, approval.Once},
		"at the number":           {1, []string{secret + "\n"}, approval.No},
		"with the number":         {1, []string{"4821 " + secret + "\n"}, approval.No},
		"on the first page":       {5000, []string{"\n" + secret + "\n", "\n", "\n", "\n", "4821\n", secret + "\n"}, approval.Once},
		"a wrong one":             {1, []string{"4821\n", "closed " + secret + "\n"}, approval.No},
		"a wrong one, and a next": {1, []string{"4821\n", "closed " + secret + "\n" + secret + "\n"}, approval.No},
	} {
		t.Run(name, func(t *testing.T) {
			person, program := openTerminal(t, 80, 24)
			terminal, err := New(program, program, &Options{Passphrase: func(text string) bool { return text == secret }})
			if err != nil {
				t.Fatal(err)
			}
			terminal.number = func() (string, error) { return "4821", nil }
			all := make(chan string)
			go func() {
				var screen []byte
				for chunk, typed := make([]byte, 4096), 0; ; {
					n, err := person.Read(chunk)
					screen = append(screen, chunk[:n]...)
					if err != nil || bytes.HasSuffix(screen, []byte("end")) {
						all <- string(screen)
						return
					}
					if bytes.HasSuffix(screen, []byte(": ")) && typed < len(test.typed) {
						_, _ = person.WriteString(test.typed[typed])
						typed++
					}
				}
			}()
			got, err := terminal.Confirm(t.Context(), question(test.length))
			if err != nil || got != test.want {
				t.Errorf("%q, %v", got, err)
			}
			_, _ = person.WriteString("later\n") // which the next program shows
			for b := make([]byte, 1); b[0] != '\n'; {
				_, _ = program.Read(b)
			}
			_, _ = program.WriteString("end")
			screen := <-all
			if strings.Contains(screen, "sesame") || !strings.Contains(screen, "later") || test.want == approval.Once && !strings.Contains(screen, "\n4821\r\n") {
				t.Errorf("the screen is %q", screen)
			}
		})
	}
}
