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
	Gone    bool   // the file was ours alone, and is removed
}

// errOurs says that a file has nothing but the entry, as it was made for it.
var errOurs = errors.New("the file has nothing else")

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
	return c.format.snippet(name, c.fields(e)), nil
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
	written := c.fields(e)
	return c.edit(target, name, written.is, func(_ *file, data []byte, found any) ([]byte, error) {
		switch {
		case written.is(found):
			return data, nil
		case found != nil && !force:
			return nil, &DifferentError{target.File, name, c.describe(data, name, found)}
		}
		return c.format.set(data, name, written)
	})
}

// Remove takes the entry out of a file. Where it is not there, nothing is to do;
// one that starts another program than e, or has another address, is a
// [DifferentError]. A file in which nothing was changed since [Client.Add] wrote
// it gets its former bytes back; one that it made is removed, and of a project also
// the folders that it leaves empty.
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

// before is what a file was before an entry was added, if it is now just what
// adding made of that; otherwise nil. Taking the entry out could not tell: not
// whether an empty section was there, nor how the last line ended.
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

// A change makes the new text of a file from the old one and the entry in it,
// nil where there is none. The same text means that nothing is to do.
type change func(f *file, data []byte, found any) ([]byte, error)

// patience is how long others of us may take who write the same file.
const patience = 5 * time.Second

// edit changes a file, in which the entry is to be as wanted. We write it one
// after the other; where somebody else does meanwhile, theirs is read again.
func (c Client) edit(target Target, name string, wanted func(entry any) bool, change change) (Result, error) {
	file, after, err := c.attempt(target, name, wanted, change)
	if err != errOurs && (err != nil || after == nil) {
		return file.result(), err
	}
	if err := file.writable(); err != nil {
		return file.result(), err
	}
	next, err := hold(file.path, patience)
	if err != nil {
		return file.result(), err
	}
	defer next.close()
	const attempts = 3
	for attempt := 1; ; attempt++ {
		file, after, err = c.attempt(target, name, wanted, change)
		result := file.result()
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

// attempt reads a file, and returns what it is to be; nil where it is that
// already.
func (c Client) attempt(target Target, name string, wanted func(entry any) bool, change change) (*file, []byte, error) {
	file, err := open(target)
	if err != nil {
		return nil, nil, err
	}
	after, err := c.changed(file, name, wanted, change)
	return file, after, err
}

// changed returns what a file is to be, nil where it is that already. A
// [DifferentError] and what is wrong with the file's text name the file.
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

// cutMark takes the byte order mark off, which editors on Windows write.
func cutMark(data []byte) (rest []byte, mark string) {
	const utf8Mark = "\ufeff"
	if strings.HasPrefix(string(data[:min(len(data), len(utf8Mark))]), utf8Mark) {
		return data[len(utf8Mark):], utf8Mark
	}
	return data, ""
}
