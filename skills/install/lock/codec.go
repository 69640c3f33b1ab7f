package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxSize bounds a lock file, in bytes: some 20,000 entries.
const maxSize = 64 << 20

// Decode returns the content of a lock file, whose author may be a stranger. The error is
// an [*Error].
func Decode(data []byte) (*File, error) {
	if len(data) > maxSize {
		return nil, &Error{Message: fmt.Sprintf("it is larger than %d MiB", maxSize>>20), Remedy: restore}
	}
	if at := conflict(data); at > 0 {
		return nil, &Error{at, "it has the marks of a merge conflict", "resolve the conflict, and run install --locked"}
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, syntaxError(data, err)
	}
	if head.Version != Version {
		return nil, &Error{Message: fmt.Sprintf("it has version %d, and this program reads version %d", head.Version, Version), Remedy: "update skills-mcp, or " + restore}
	}
	f := &File{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return nil, syntaxError(data, err)
	}
	if name, line := duplicate(data); line > 0 {
		return nil, &Error{line, fmt.Sprintf("%q is there twice", name), "remove one of them, and run verify"}
	}
	return f, f.validate()
}

// conflict returns the line with the first mark of a merge conflict; 0 without one. JSON
// has no line that begins so.
func conflict(data []byte) int {
	at := 0
	for line := range bytes.Lines(data) {
		at++
		for _, mark := range []string{"<<<<<<<", "=======", ">>>>>>>", "|||||||"} {
			if bytes.HasPrefix(line, []byte(mark)) {
				return at
			}
		}
	}
	return 0
}

// syntaxError returns an error of package json as one for people.
func syntaxError(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return &Error{Message: "it is empty", Remedy: restore}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && syntax.Offset >= int64(len(bytes.TrimRight(data, " \r\n\t"))):
		return &Error{Message: "its end is missing", Remedy: restore}
	case errors.As(err, &syntax):
		return &Error{lineAt(data, syntax.Offset), "it is not JSON: " + syntax.Error(), restore}
	case errors.As(err, &kind):
		return &Error{lineAt(data, kind.Offset), fmt.Sprintf("%q is a JSON %s", strings.ReplaceAll(kind.Field, "State.", ""), kind.Value), restore}
	}
	return &Error{Message: err.Error(), Remedy: "update skills-mcp, or " + restore}
}

// Encode returns the file as JSON, indented so that version control can merge it: the same
// bytes for the same content.
func (f *File) Encode() ([]byte, error) {
	if err := f.validate(); err != nil {
		return nil, fmt.Errorf("encode %s: %w", Name, err)
	}
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", Name, err)
	}
	if len(data) >= maxSize {
		return nil, &Error{Message: fmt.Sprintf("it would be larger than %d MiB", maxSize>>20), Remedy: "uninstall what you do not need"}
	}
	return append(data, '\n'), nil
}
