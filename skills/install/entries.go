package install

import (
	"maps"
	"path"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// Installed returns the content of the lock file, without waiting for a change under
// way: see [lock.Entry]. A target without the file has no entries.
func (i *Installer) Installed() (*lock.File, error) {
	l, err := i.target.layout()
	if err != nil {
		return nil, err
	}
	f, err := lock.Read(i.target.Dir)
	if err == nil {
		err = l.check(f)
	}
	if err != nil {
		return nil, explain(err, i.target)
	}
	return f, nil
}

// choose returns the paths of the entries that names mean, sorted; without names those of all that are installed. The error is an [*UnknownError].
func choose(f *lock.File, names []string) ([]string, error) {
	all := slices.Sorted(maps.Keys(f.Entries))
	all = slices.DeleteFunc(all, func(p string) bool { return !f.Entries[p].Exists() })
	if len(names) == 0 {
		return all, nil
	}
	chosen := map[string]bool{}
	for _, name := range names {
		found := called(f, all, name)
		if len(found) == 0 {
			return nil, &UnknownError{Name: name, Installed: shortNames(all)}
		}
		for _, p := range found {
			chosen[p] = true
		}
	}
	return slices.DeleteFunc(all, func(p string) bool { return !chosen[p] }), nil
}

// called returns the entries that a name means: by its path, its folder or its own name.
func called(f *lock.File, all []string, name string) (found []string) {
	for _, means := range []func(p string) bool{
		func(p string) bool { return p == name },
		func(p string) bool { return path.Base(p) == name },
		func(p string) bool { return f.Entries[p].Name == name },
	} {
		for _, p := range all {
			if means(p) {
				found = append(found, p)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// maxNamed bounds the names in an error.
const maxNamed = 20

func shortNames(all []string) (names []string) {
	for _, p := range all[:min(len(all), maxNamed)] {
		names = append(names, path.Base(p))
	}
	if len(all) > maxNamed {
		names = append(names, "…")
	}
	return names
}
