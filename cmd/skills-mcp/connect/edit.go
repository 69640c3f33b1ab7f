package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// Options change how a file is edited.
type Options struct {
	// Force replaces or removes an entry that starts something else, and makes
	// the folder of a client that seems not to be installed.
	Force bool
}

// A Result describes the edit of a file.
type Result struct {
	File    string // without links
	Backup  string // path of a copy of the file before the edit; "" without one
	Changed bool   // false if the file needed no change
	Gone    bool   // the file held nothing else, and was removed
}

// unedited returns the result for a file that was not changed.
func unedited(f *file) Result {
	if f == nil {
		return Result{}
	}
	return Result{File: f.path}
}

// errOurs is returned for a file that holds only the entry, as Add created it.
var errOurs = errors.New("the file has nothing else")

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
		case found != nil && !force && !(e.Token != "" && e.same(c, found) && c.fieldsOf(found) != nil): // it may have another token
			return nil, &DifferentError{target.File, name, c.describe(data, name, found)}
		}
		return c.format.set(data, name, written)
	})
}

// Remove removes the entry from a file, if it is there. The error is a
// [DifferentError] if the entry starts another program than e, or has another
// address. A file that is unchanged since [Client.Add] wrote it gets its former
// bytes back; one that Add created is removed, with the folders of a project that
// this empties.
func (c Client) Remove(target Target, name string, e Entry, opts *Options) (Result, error) {
	force := opts != nil && opts.Force
	gone := func(entry any) bool { return entry == nil }
	result, err := c.edit(target, name, gone, func(f *file, data []byte, found any) ([]byte, error) {
		switch {
		case found == nil:
			return data, nil
		case !e.same(c, found) && !force:
			return nil, &DifferentError{target.File, name, c.describe(data, name, found)}
		}
		if before := c.before(f, data, name, found); before != nil {
			return before, nil
		}
		if made, err := c.format.set(nil, name, c.fieldsOf(found)); err == nil && e.same(c, found) && bytes.Equal(made, f.data) {
			return nil, errOurs
		}
		return c.format.remove(data, name)
	})
	if result.Gone && target.Within != "" {
		for dir := filepath.Dir(target.File); dir != target.Within && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	return result, err
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

// before returns the backup that yields the file's content when the entry is added
// to it, or nil. Removing the entry could not restore whether there was an empty
// section, nor how the last line ended.
func (c Client) before(f *file, data []byte, name string, found any) []byte {
	written := c.fieldsOf(found)
	if written == nil {
		return nil
	}
	for _, backup := range f.backups() {
		was, _, err := read(backup)
		if err != nil || len(was) >= len(f.data) {
			continue
		}
		old, mark := cutMark(was)
		if has, err := entries(c.format, old); err != nil || has[name] != nil || len(mark) != len(f.data)-len(data) {
			continue
		}
		if added, err := c.format.set(old, name, written); err == nil && bytes.Equal(added, data) {
			return old
		}
	}
	return nil
}

// A change returns the new text of a file for the old one and its entry, which is
// nil if there is none. It returns the same text if no edit is needed.
type change func(f *file, data []byte, found any) ([]byte, error)

// patience bounds the wait for another process of ours that edits the same file.
const patience = 5 * time.Second

// edit applies a change to a file and verifies that the entry is then as wanted. A
// lock serializes our processes; after a write by anybody else it starts again.
func (c Client) edit(target Target, name string, wanted func(entry any) bool, change change) (Result, error) {
	file, after, err := c.attempt(target, name, wanted, change)
	if err != errOurs && (err != nil || after == nil) {
		return unedited(file), err
	}
	if err := file.writable(); err != nil {
		return unedited(file), err
	}
	next, err := hold(file.path, patience)
	if err != nil {
		return unedited(file), err
	}
	defer next.close()
	const attempts = 3
	for attempt := 1; ; attempt++ {
		file, after, err = c.attempt(target, name, wanted, change)
		result := unedited(file)
		switch {
		case err == errOurs:
			err = file.remove()
			result.Gone = err == nil
		case err != nil || after == nil:
			return result, err
		default:
			result.Backup, err = file.replace(next, after)
		}
		if errors.Is(err, errMeanwhile) && attempt < attempts {
			continue
		}
		result.Changed = err == nil
		return result, err
	}
}

// attempt reads a file and returns its new content, nil if it needs no change.
func (c Client) attempt(target Target, name string, wanted func(entry any) bool, change change) (*file, []byte, error) {
	file, err := open(target)
	if err != nil {
		return nil, nil, err
	}
	after, err := c.changed(file, name, wanted, change)
	return file, after, err
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
		if err == errOurs || errors.As(err, &different) {
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
