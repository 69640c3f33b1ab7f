package install

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// below returns the slash-separated path of a host path in the target's folder.
func (t Target) below(host string) (string, error) {
	rel, err := filepath.Rel(t.Dir, host)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not below %s", host, t.Dir)
	}
	return filepath.ToSlash(rel), nil
}

// host returns the host path of a slash-separated path in the target's folder.
func (t Target) host(name string) string { return filepath.Join(t.Dir, filepath.FromSlash(name)) }

// layout has the folders of a target, slash-separated from Target.Dir.
type layout struct{ skills, plugins, state string }

func (t Target) layout() (l layout, err error) {
	for _, f := range []struct {
		to   *string
		from string
	}{{&l.skills, t.Skills}, {&l.plugins, t.Plugins}, {&l.state, t.State}} {
		if *f.to, err = t.below(f.from); err != nil {
			return layout{}, err
		}
	}
	return l, nil
}

// entry returns the path in the lock of an entry.
func (l layout) entry(kind, folder string) string {
	if kind == lock.Plugin {
		return path.Join(l.plugins, folder)
	}
	return path.Join(l.skills, folder)
}

// check returns an error for a lock file with a path that the target does not have: a
// stranger may have written it. An adopted entry may be in another client's folder.
func (l layout) check(f *lock.File) error {
	for name := range f.Entries {
		if dir := path.Dir(name); dir != l.skills && dir != l.plugins && !lock.InClientFolder(name) {
			return &lock.Error{Message: fmt.Sprintf("the entry %q lies in neither %s nor %s, nor in a client's folder of skills", name, l.skills, l.plugins), Remedy: "remove it"}
		}
	}
	return nil
}

// The folders of the state. Those of a change are empty when none is under way.
const (
	workDir     = "work"     // a folder for each plan
	nextDir     = "next"     // versions that are about to be moved in
	oldDir      = "old"      // versions that were moved out
	previousDir = "previous" // versions for rollback
	keptDir     = "kept"     // versions that somebody else has edited
)

// slot returns the name of an entry's folder in one of those of a change.
func slot(entry string) string { return shortSum(entry) }

func (l layout) next(entry string) string { return path.Join(l.state, nextDir, slot(entry)) }
func (l layout) old(entry string) string  { return path.Join(l.state, oldDir, slot(entry)) }

// previous returns the folder of an earlier version.
func (l layout) previous(entry, digest string) string {
	return path.Join(l.state, previousDir, slot(entry)+"-"+strings.TrimPrefix(digest, "sha256:")[:16])
}

func shortSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
