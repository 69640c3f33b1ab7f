package dependencies

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	manifestFile = "package.json"
	lockFile     = "package-lock.json"
)

// A manifest holds the fields of package.json that select the installed packages.
type manifest struct {
	Name                 string            `json:"name,omitempty"`
	Version              string            `json:"version,omitempty"`
	Dependencies         map[string]string `json:"dependencies,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
	PeerDependencies     map[string]string `json:"peerDependencies,omitempty"`
	// DevDependencies are not installed, but npm compares them with the lock.
	DevDependencies map[string]string `json:"devDependencies,omitempty"`
	Overrides       map[string]any    `json:"overrides,omitempty"`
}

// findNode reads package.json and package-lock.json. It uses only the names,
// versions and digests of both: packages come from the operator's registry, and
// from nowhere else.
func findNode(fsys fs.FS) (*Declared, error) {
	data, err := read(fsys, manifestFile, maxManifest)
	if data == nil || err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, &Error{manifestFile, 0, fmt.Sprintf("it is no JSON as npm wants it: %.200s", err), "fix it"}
	}
	if len(m.Dependencies)+len(m.OptionalDependencies) == 0 {
		return nil, nil
	}
	lock, err := readLock(fsys)
	if err != nil {
		return nil, err
	}
	if lock == nil {
		m.DevDependencies = nil
	}
	return m.declare(lock)
}

// declare checks m and returns it rewritten, with the lock if there is one.
func (m manifest) declare(lock []byte) (*Declared, error) {
	for _, all := range []map[string]string{m.Dependencies, m.OptionalDependencies, m.PeerDependencies, m.DevDependencies} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !packageName().MatchString(name) || !packageVersion().MatchString(all[name]) {
				return nil, notFromRegistry(name + "@" + all[name])
			}
		}
	}
	if strange := strangeOverride(m.Overrides); strange != "" {
		return nil, notFromRegistry(strange)
	}
	d := &Declared{Kind: Node, File: manifestFile, Packages: m.packages()}
	if len(d.Packages) > maxPackages {
		return nil, &Error{manifestFile, 0, fmt.Sprintf("it names %d packages, and at most %d are taken", len(d.Packages), maxPackages), "name fewer"}
	}
	plain, err := json.Marshal(m)
	if err != nil {
		return nil, &Error{manifestFile, 0, fmt.Sprintf("it cannot be written anew: %v", err), "fix it"}
	}
	d.Lock = []File{{manifestFile, plain}}
	if lock != nil {
		d.Lock = append(d.Lock, File{lockFile, lock})
	}
	return d, nil
}

// A registry has names, perhaps in a scope, with versions, which are selected by
// ranges, tags or another name. Addresses, paths and repositories do not match.
// Compiled at first use: at each start it would take a quarter of a millisecond.
var (
	packageName    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + nodeName + `$`) })
	packageVersion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:npm:` + nodeName + `(?:@` + nodeRange + `)?|` + nodeRange + `)$`)
	})
)

const (
	nodeName  = `(?:@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*`
	nodeRange = `[A-Za-z0-9^~<>=|*. +_-]{0,200}`
)

func notFromRegistry(text string) error {
	return &Error{manifestFile, 0, fmt.Sprintf("%.100q is not taken: only names of packages are, with versions", text), "name the package as the registry does"}
}

// strangeOverride returns a version in overrides, which may be nested, that no
// registry has, and "" if there is none.
func strangeOverride(overrides map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		switch value := overrides[name].(type) {
		case map[string]any:
			if strange := strangeOverride(value); strange != "" {
				return strange
			}
		case string:
			// "$name" is the version that the manifest has for that name.
			if !packageVersion().MatchString(value) && !packageName().MatchString(strings.TrimPrefix(value, "$")) {
				return name + "@" + value
			}
		default:
			return fmt.Sprintf("%s@%v", name, value)
		}
	}
	return ""
}

// packages returns the packages that a script needs at run time.
func (m manifest) packages() []string {
	all := maps.Clone(m.Dependencies)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, m.OptionalDependencies)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"@"+all[name])
	}
	return list
}

// A lock holds the accepted fields of package-lock.json. Source: npm's
// documentation of package-lock.json, lockfileVersion 2 and 3.
type lock struct {
	Name            string                    `json:"name,omitempty"`
	Version         string                    `json:"version,omitempty"`
	LockfileVersion int                       `json:"lockfileVersion"`
	Requires        bool                      `json:"requires"`
	Packages        map[string]map[string]any `json:"packages"`
}

// readLock returns package-lock.json rewritten without the addresses of packages:
// npm then asks its registry for each, and compares the digest.
func readLock(fsys fs.FS) ([]byte, error) {
	data, err := read(fsys, lockFile, maxLock)
	if data == nil || err != nil {
		return nil, err
	}
	const anew = "write it anew with: npm install --package-lock-only"
	var l lock
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, &Error{lockFile, 0, fmt.Sprintf("it is no JSON as npm writes it: %.200s", err), anew}
	}
	if l.LockfileVersion < 2 || l.Packages == nil {
		return nil, &Error{lockFile, 0, fmt.Sprintf("it has lockfileVersion %d, and at least 2 is needed", l.LockfileVersion), anew + ", with npm 7 or newer"}
	}
	l.Requires = true
	for _, place := range slices.Sorted(maps.Keys(l.Packages)) {
		if err := checkLocked(place, l.Packages[place]); err != nil {
			return nil, err
		}
	}
	plain, err := json.Marshal(l)
	if err != nil {
		return nil, &Error{lockFile, 0, fmt.Sprintf("it cannot be written anew: %v", err), anew}
	}
	return plain, nil
}

// checkLocked checks one package of a lock and removes its address.
func checkLocked(place string, entry map[string]any) error {
	if place == "" { // the skill itself
		return nil
	}
	integrity, _ := entry["integrity"].(string)
	link, _ := entry["link"].(bool)
	bundled, _ := entry["inBundle"].(bool)
	if link || !strings.HasPrefix(place, "node_modules/") || integrity == "" && !bundled {
		return &Error{lockFile, 0, fmt.Sprintf("%.100q is not taken: it is no package of a registry, with its digest", place), "name the package as the registry does, and lock it again"}
	}
	delete(entry, "resolved")
	return nil
}
