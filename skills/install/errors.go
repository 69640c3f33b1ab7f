package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A ConflictError says that an item cannot be installed because of what is at its path.
type ConflictError struct {
	Path string // of the entry, from Target.Dir
	// Owner is the source that the entry there was installed from; nil if nothing of
	// ours is there.
	Owner  *source.Source
	Reason string
	Remedy string // an imperative
}

// Error implements error.
func (e *ConflictError) Error() string { return e.Path + " " + e.Reason + "; " + e.Remedy }

// An EntryError is the failure of entries that share a source.
type EntryError struct {
	Paths []string // in the lock
	Err   error
}

// Error implements error.
func (e *EntryError) Error() string { return strings.Join(e.Paths, ", ") + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *EntryError) Unwrap() error { return e.Err }

// An UnknownError says that nothing of a name is installed.
type UnknownError struct {
	Name      string
	Installed []string // the names of entries
}

// Error implements error.
func (e *UnknownError) Error() string {
	if len(e.Installed) == 0 {
		return fmt.Sprintf("%q is not installed; nothing is", e.Name)
	}
	return fmt.Sprintf("%q is not installed; installed are %s", e.Name, strings.Join(e.Installed, ", "))
}

// explain adds the remedy to an error of the file system.
func explain(err error, target Target) error {
	var path *fs.PathError
	var link *os.LinkError
	if err == nil || !errors.As(err, &path) && !errors.As(err, &link) {
		return err
	}
	remedy := ""
	switch text := strings.ToLower(err.Error()); {
	case errors.Is(err, fs.ErrPermission), strings.Contains(text, "read-only"):
		remedy = "make " + target.Dir + " writable for you"
	case strings.Contains(text, "no space"), strings.Contains(text, "disk quota"), strings.Contains(text, "not enough space"):
		remedy = "free space on the disk of " + target.Dir
	case strings.Contains(text, "cross-device"):
		remedy = fmt.Sprintf("keep all folders of %s on one file system", target.Dir)
	case strings.Contains(text, "path escapes"):
		remedy = "replace the link that leads out of " + target.Dir + " by a folder"
	case errors.Is(err, fs.ErrExist), strings.Contains(text, "not a directory"):
		remedy = "remove the file in the place of a folder"
	default:
		return err
	}
	return fmt.Errorf("%w; %s", err, remedy)
}
