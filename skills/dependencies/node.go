package dependencies

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
)

const (
	manifestFile = "package.json"
	lockFile     = "package-lock.json"
)

// A manifest is what of package.json decides which packages are installed. npm
// compares all of it with the lock file, so that what is only for development
// cannot be left out.
type manifest struct {
	Name                 string            `json:"name,omitempty"`
	Version              string            `json:"version,omitempty"`
	Dependencies         map[string]string `json:"dependencies,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
	DevDependencies      map[string]string `json:"devDependencies,omitempty"`
	PeerDependencies     map[string]string `json:"peerDependencies,omitempty"`
	Overrides            json.RawMessage   `json:"overrides,omitempty"`
}

// plainPackage is a name, perhaps in a scope, and what npm takes for a version.
var plainPackage = regexp.MustCompile(`^(?:@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*@[ -~]{0,300}$`)

// findNode reads package.json and package-lock.json.
func findNode(fsys fs.FS, _ string) (*Declared, error) {
	data, err := read(fsys, manifestFile, maxManifest)
	if data == nil || err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, &Error{manifestFile, 0, fmt.Sprintf("it is no JSON as npm wants it: %.200s", err), "mend it"}
	}
	d := &Declared{Kind: Node, File: manifestFile, Packages: m.packages()}
	if len(d.Packages) == 0 {
		return nil, nil
	}
	if i := slices.IndexFunc(d.Packages, func(p string) bool { return !plainPackage.MatchString(p) }); i >= 0 {
		return nil, &Error{manifestFile, 0, fmt.Sprintf("%.100q is no name and version of a package", d.Packages[i]), "write it as npm does"}
	}
	if len(d.Packages) > MaxPackages {
		return nil, &Error{manifestFile, 0, fmt.Sprintf("it names %d packages, and at most %d are taken", len(d.Packages), MaxPackages), "name fewer"}
	}
	plain, err := json.Marshal(m)
	if err != nil {
		return nil, &Error{manifestFile, 0, fmt.Sprintf("it cannot be written anew: %v", err), "mend it"}
	}
	d.Lock = []File{{manifestFile, plain}}
	lock, err := read(fsys, lockFile, maxLock)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		if !json.Valid(lock) {
			return nil, &Error{lockFile, 0, "it is no JSON", "write it anew with: npm install --package-lock-only"}
		}
		d.Lock = append(d.Lock, File{lockFile, lock})
	}
	return d, nil
}

// packages are those that a script needs to run.
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
