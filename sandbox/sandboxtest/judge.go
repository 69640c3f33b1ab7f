package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// An outcome is the result of an attack.
type outcome struct {
	result *sandbox.Result // nil where the script did not start
	err    error
	denied []string // resources that others could not get meanwhile
}

// stdout returns the output, or "" where the script did not start.
func (o outcome) stdout() string {
	if o.result == nil {
		return ""
	}
	return string(o.result.Stdout.Bytes())
}

// String describes the outcome for a test's failure.
func (o outcome) String() string {
	if o.result == nil {
		return fmt.Sprintf("error %v", o.err)
	}
	return fmt.Sprintf("exit %d, error %v, stdout %.800q, stderr %.800q", o.result.Code, o.err, o.result.Stdout.Bytes(), o.result.Stderr.Bytes())
}

// tried is the last line of every script that runs to its end.
const tried = "tried\n"

// A judge returns an error for a wrong outcome.
type judge func(o outcome) error

// ended passes calls that ended by themselves or by a limit.
func ended(o outcome) error {
	if errors.Is(o.err, context.DeadlineExceeded) || o.result == nil && o.err == nil {
		return errors.New("the call did not end")
	}
	return nil
}

// refusedOrEnded passes calls that ended and did not succeed: the script may end its own
// call.
func refusedOrEnded(o outcome) error {
	if o.err == nil && o.result.Code == 0 {
		return errors.New("the call is said to have gone well")
	}
	return ended(o)
}

// limited passes calls that were ended by the limit.
func limited(limit string) judge {
	return func(o outcome) error {
		var e *sandbox.LimitError
		if !errors.As(o.err, &e) || e.Limit != limit {
			return fmt.Errorf("the %s limit did not end it", limit)
		}
		return nil
	}
}

// exactly passes calls with the exit code and the output, byte for byte.
func exactly(stdout string, code int) judge {
	return func(o outcome) error {
		if o.err != nil || o.result.Code != code || o.stdout() != stdout {
			return fmt.Errorf("want exit %d and stdout %.800q", code, stdout)
		}
		return nil
	}
}

// whole passes calls with the exit code whose output had that many bytes.
func whole(size int64, code int) judge {
	return func(o outcome) error {
		if o.err != nil || o.result.Code != code || o.result.Stdout.Total != size {
			return errors.New("the output is not whole")
		}
		return nil
	}
}

// codeOrFailure passes the command's own exit code, and calls with an error.
func codeOrFailure(code int) judge {
	return func(o outcome) error {
		if o.err == nil && o.result.Code != code {
			return fmt.Errorf("the exit code is %d, and was %d", o.result.Code, code)
		}
		return ended(o)
	}
}

// without passes calls that ended without a word in their output.
func without(word string) judge {
	return func(o outcome) error {
		if strings.Contains(o.stdout(), word) {
			return fmt.Errorf("the output has the word %q", word)
		}
		return ended(o)
	}
}

// atMost passes the outcomes that then passes, if no number that was printed is above
// most.
func atMost(most int, then judge) judge {
	return func(o outcome) error {
		for line := range strings.Lines(o.stdout()) {
			var n int
			if _, err := fmt.Sscan(line, &n); err == nil && n > most {
				return fmt.Errorf("it got %d bytes of %d", n, most)
			}
		}
		return then(o)
	}
}

// onlyPlain passes calls of which nothing worked, and without a file from /out that the
// script did not write.
func onlyPlain(o outcome) error {
	if o.err != nil {
		return fmt.Errorf("the script did not run to its end: %w", o.err)
	}
	if worked := strings.TrimSuffix(o.stdout(), tried); worked != "" {
		return fmt.Errorf("this worked: %q", worked)
	}
	for _, file := range o.result.Out.Taken {
		if file.Name != "plain" || !bytes.Equal(file.Data, []byte("mine\n")) {
			return fmt.Errorf("the file %q was taken, with %.100q", file.Name, file.Data)
		}
	}
	return nil
}

// boundedFiles passes calls whose files from /out are within the limits, and have names
// that are sanitized.
func boundedFiles(o outcome) error {
	if err := ended(o); err != nil || o.result == nil {
		return err
	}
	taken, size := o.result.Out.Taken, 0
	for _, file := range taken {
		size += len(file.Data)
		if strings.ContainsAny(file.Name, "\n\x1b\\") || !utf8.ValidString(file.Name) {
			return fmt.Errorf("a file's name is %q", file.Name)
		}
	}
	if len(taken) > sandbox.MaxOutFiles || size > sandbox.MaxOutBytes {
		return fmt.Errorf("%d files with %d bytes were taken", len(taken), size)
	}
	return nil
}
