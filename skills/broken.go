package skills

import (
	"fmt"
	"path/filepath"
	"strings"
)

// A BrokenError says that there is a skill of a name, and why it does not load.
type BrokenError struct {
	Name    string
	Problem Problem
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("skill %s does not load: %s", e.Name, e.Problem)
}

// unreadable begins the message of a problem with a file that could not be read.
const unreadable = "it cannot be read: "

// notLoaded is the remedy of a file that cannot be read.
const notLoaded = "check that it exists and may be read"

// UnreadableProblem returns the problem of a file that cannot be read.
func UnreadableProblem(file string, err error) Problem {
	return Problem{Severity: Error, Path: file, Message: unreadable + err.Error(), Remedy: notLoaded}
}

// Unreadable reports whether the skill's file could not be read, and whether that is
// for want of permission. Otherwise it was read, and is wrong.
func (e *BrokenError) Unreadable() (unreadableFile, denied bool) {
	why, ok := strings.CutPrefix(e.Problem.Message, unreadable)
	return ok, ok && strings.Contains(why, "permission denied")
}

// Broken returns why the file that defined a skill does not load, for one that is
// called name; nil where nothing is wrong with it.
func (c *Catalog) Broken(name, file string) *BrokenError {
	for _, p := range c.Problems {
		if p.Severity == Error && p.Path == file {
			return &BrokenError{name, p}
		}
	}
	return nil
}

// broken finds a skill that does not load by the name of its folder or, for a
// command, of its file: its own name was not read.
func (c *Catalog) broken(name string) *BrokenError {
	plugin, bare, qualified := strings.Cut(name, "/")
	if !qualified {
		bare = name
	}
	for _, p := range c.Problems {
		if p.Severity != Error {
			continue
		}
		folder, file := filepath.Split(filepath.FromSlash(p.Path))
		called := filepath.Base(folder)
		switch stem := strings.TrimSuffix(file, filepath.Ext(file)); {
		case strings.EqualFold(file, "plugin.json"):
			if called == ".claude-plugin" {
				called = filepath.Base(filepath.Dir(filepath.Clean(folder)))
			}
			if qualified && called == plugin {
				return &BrokenError{name, p}
			}
			continue
		case strings.EqualFold(stem, "SKILL"):
		case strings.EqualFold(filepath.Ext(file), ".md"):
			called = stem
		default:
			continue
		}
		inPlugin := !qualified || strings.Contains(filepath.ToSlash(folder), "/"+plugin+"/") || strings.HasPrefix(filepath.ToSlash(folder), plugin+"/")
		if called == bare && inPlugin {
			return &BrokenError{name, p}
		}
	}
	return nil
}
