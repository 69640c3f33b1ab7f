package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Options change how a file is edited.
type Options struct {
	// Force replaces or removes an entry that starts something else, and makes
	// the folder of a client that seems not to be installed.
	Force bool
}

// A Result is what became of a file.
type Result struct {
	File    string // without links
	Backup  string // what the file was before; "" where there was none
	Changed bool   // false where nothing was to do
}

// A DifferentError says that a file has an entry of the name for something else.
type DifferentError struct {
	File, Name string
	Text       string // the entry, as it is written there
}

func (e *DifferentError) Error() string {
	return fmt.Sprintf("%s has another server %q:\n%s", e.File, e.Name, e.Text)
}

// Snippet returns a file of the client that has the entry alone.
func (c Client) Snippet(name string, e Entry) ([]byte, error) {
	if err := e.check(c); err != nil {
		return nil, err
	}
	return c.format.snippet(name, e), nil
}

// Add writes the entry into a file, which is made if it is missing. An entry of
// the name that starts something else is a [DifferentError].
func (c Client) Add(target Target, name string, e Entry, opts *Options) (Result, error) {
	if err := e.check(c); err != nil {
		return Result{}, err
	}
	force := opts != nil && opts.Force
	if err := c.prepare(target, force); err != nil {
		return Result{}, err
	}
	return c.edit(target, name, e.is, func(data []byte, found any) ([]byte, error) {
		switch {
		case e.is(found):
			return data, nil
		case found != nil && !force:
			return nil, &DifferentError{target.File, name, c.describe(data, name, found)}
		}
		return c.format.set(data, name, e)
	})
}

// Remove takes the entry out of a file. Where it is not there, nothing is to do;
// one that starts another program than e is a [DifferentError].
func (c Client) Remove(target Target, name string, e Entry, opts *Options) (Result, error) {
	force := opts != nil && opts.Force
	gone := func(entry any) bool { return entry == nil }
	return c.edit(target, name, gone, func(data []byte, found any) ([]byte, error) {
		switch {
		case found == nil:
			return data, nil
		case !e.sameProgram(found) && !force:
			return nil, &DifferentError{target.File, name, c.describe(data, name, found)}
		}
		return c.format.remove(data, name)
	})
}

// describe returns an entry as it is written, or else as JSON.
func (c Client) describe(data []byte, name string, found any) string {
	if text := c.format.text(data, name); text != "" {
		return text
	}
	text, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		return fmt.Sprint(found)
	}
	return string(text)
}

// A change makes the new text of a file from the old one and the entry in it,
// nil where there is none. The same text means that nothing is to do.
type change func(data []byte, found any) ([]byte, error)

// edit changes a file, in which the entry is to be as wanted. Where somebody else
// writes the file meanwhile, theirs is read again.
func (c Client) edit(target Target, name string, wanted func(entry any) bool, change change) (Result, error) {
	const attempts = 3
	var result Result
	for attempt := 1; ; attempt++ {
		file, err := open(target)
		if err != nil {
			return Result{}, err
		}
		result = Result{File: file.path}
		after, err := c.changed(file, name, wanted, change)
		if err != nil || after == nil {
			return result, err
		}
		result.Backup, err = file.replace(after)
		if errors.Is(err, errMeanwhile) && attempt < attempts {
			continue
		}
		result.Changed = err == nil
		return result, err
	}
}

// changed returns what a file is to be, nil where it is that already. A
// [DifferentError] and what is wrong with the file's text name the file.
func (c Client) changed(file *file, name string, wanted func(entry any) bool, change change) ([]byte, error) {
	data, mark := cutMark(file.data)
	found, err := entries(c.format, data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file.path, err)
	}
	after, err := change(data, found[name])
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

// cutMark takes the byte order mark off, which editors on Windows write.
func cutMark(data []byte) (rest []byte, mark string) {
	const utf8Mark = "\ufeff"
	if strings.HasPrefix(string(data[:min(len(data), len(utf8Mark))]), utf8Mark) {
		return data[len(utf8Mark):], utf8Mark
	}
	return data, ""
}
