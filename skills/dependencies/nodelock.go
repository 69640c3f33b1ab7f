package dependencies

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// A lock is what is taken of package-lock.json. Source: npm's documentation of
// package-lock.json, lockfileVersion 2 and 3.
type lock struct {
	Name            string                    `json:"name,omitempty"`
	Version         string                    `json:"version,omitempty"`
	LockfileVersion int                       `json:"lockfileVersion"`
	Requires        bool                      `json:"requires"`
	Packages        map[string]map[string]any `json:"packages"`
}

// readLock reads package-lock.json and writes it anew without the addresses of
// packages: npm then asks its registry for each, and compares the digest.
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

// checkLocked looks at one package of a lock, and takes its address out of it.
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
