package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// Options change how a file is edited.
type Options struct {
	// Force replaces or removes an entry that starts something else, and makes
	// the folder of a client that seems not to be installed.
	Force bool
	// DryRun has [Client.EditHooks] write nothing.
	DryRun bool
}

// A Result describes the edit of a file.
type Result struct {
	File    string // without links
	Backup  string // path of a copy of the file before the edit; "" without one
	Changed bool   // false if the file needed no change
}

// A DifferentError reports an entry of the same name for another server.
type DifferentError struct {
	File, Name string
	Text       string // the entry, as written in the file
}

func (e *DifferentError) Error() string {
	return fmt.Sprintf("%s has another server %q:\n%s", e.File, e.Name, e.Text)
}

// Snippet returns the content of a client's file with this entry only.
func (c Client) Snippet(name string, e Entry) ([]byte, error) {
	if err := e.check(c); err != nil {
		return nil, err
	}
	return c.format.snippet(name, c.fields(e)), nil
}

// Add writes the entry into a file, and creates a missing file. With a token the file is
// its owner's alone from then on. The error is a [DifferentError] if the name's entry starts
// something else.
func (c Client) Add(target Target, name string, e Entry, opts *Options) (Result, error) {
	if err := e.check(c); err != nil {
		return Result{}, err
	}
	force := opts != nil && opts.Force
	if err := c.prepare(target, force); err != nil {
		return Result{}, err
	}
	written := c.fields(e)
	return c.edit(target, name, written.is, func(f *file, data []byte, found any) ([]byte, error) {
		if e.Token != "" {
			f.mode &^= 0o077
		}
		switch {
		case written.is(found):
			return data, nil
		case found != nil && !force && !(e.Token != "" && e.same(c, found)): // it may have another token
			return nil, &DifferentError{target.File, name, c.describe(data, name, found)}
		}
		return c.format.set(data, name, written)
	})
}

// Remove removes the entry from a file, if it is there. All else in the file stays. The
// error is a [DifferentError] if the entry starts another program than e, or has another
// address.
func (c Client) Remove(target Target, name string, e Entry, opts *Options) (Result, error) {
	force := opts != nil && opts.Force
	gone := func(entry any) bool { return entry == nil }
	return c.edit(target, name, gone, func(_ *file, data []byte, found any) ([]byte, error) {
		switch {
		case found == nil:
			return data, nil
		case !e.same(c, found) && !force:
			return nil, &DifferentError{target.File, name, c.describe(data, name, found)}
		}
		return c.format.remove(data, name)
	})
}

// bearer matches a bearer token of an entry, where it is no variable.
var bearer = lazyregexp.New(`(?i)(Bearer )[^"'\s$]+`)

// describe returns an entry as written in the file, or else as JSON, without a token.
func (c Client) describe(data []byte, name string, found any) string {
	text := c.format.text(data, name)
	if text == "" {
		encoded, _ := json.MarshalIndent(found, "", "  ") // it was decoded
		text = string(encoded)
	}
	return bearer.ReplaceAllString(text, "${1}…")
}

// A change returns the new text of a file for the old one and its entry, which is
// nil if there is none. It returns the same text if no edit is needed.
type change func(f *file, data []byte, found any) ([]byte, error)

// edit applies a change to a file and verifies that the entry is then as wanted.
func (c Client) edit(target Target, name string, wanted func(entry any) bool, change change) (Result, error) {
	file, err := open(target)
	if err != nil {
		return Result{}, err
	}
	result := Result{File: file.path}
	after, err := c.changed(file, name, wanted, change)
	if err != nil || after == nil {
		return result, err
	}
	result.Backup, err = file.replace(after)
	result.Changed = err == nil
	return result, err
}

// changed returns the new content of a file, nil if it needs no change. Its errors
// name the file.
func (c Client) changed(file *file, name string, wanted func(entry any) bool, change change) ([]byte, error) {
	data, mark := cutMark(file.data)
	found, err := entries(c.format, data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file.path, err)
	}
	after, err := change(file, data, found[name])
	if err != nil {
		var different *DifferentError
		if errors.As(err, &different) {
			return nil, err
		}
		return nil, fmt.Errorf("edit %s: %w", file.path, err)
	}
	if bytes.Equal(data, after) {
		return nil, nil
	}
	if err := verify(c.format, data, after, name, wanted); err != nil {
		return nil, fmt.Errorf("edit %s: %w", file.path, err)
	}
	return append([]byte(mark), after...), nil
}

// cutMark cuts off the byte order mark, which editors on Windows write.
func cutMark(data []byte) (rest []byte, mark string) {
	const utf8Mark = "\ufeff"
	if strings.HasPrefix(string(data[:min(len(data), len(utf8Mark))]), utf8Mark) {
		return data[len(utf8Mark):], utf8Mark
	}
	return data, ""
}
