package adopt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A record is an entry of another tool's lock file, in our words.
type record struct {
	tool, lock, name string
	// dirs are the slash-separated folders that the entry may be in; none is every
	// folder with skills. folder is its name there.
	dirs      []string
	folder    string
	source    source.Source
	err       error // why it cannot be adopted; nil if it can
	revision  string
	path      string    // in the source
	recorded  *recorded // nil without a hash that can be computed
	unproved  []string
	installed time.Time
}

// decode reads the JSON of a lock file with an object of entries, each on its own, so
// that a broken one costs only itself. Unknown fields are left out: each version of the
// tools adds some.
func decode[T any](name string, data []byte, version int, make func(key string, entry T) *record) ([]*record, error) {
	var file struct {
		Version int                        `json:"version"`
		Skills  map[string]json.RawMessage `json:"skills"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s is not JSON: %w; correct it or remove it", name, err)
	}
	if file.Version != version {
		return nil, fmt.Errorf("%s has version %d, and this program reads version %d; update one of the tools", name, file.Version, version)
	}
	if len(file.Skills) > maxRecords {
		return nil, fmt.Errorf("%s has %d entries; %d are the limit", name, len(file.Skills), maxRecords)
	}
	var all []*record
	for _, key := range slices.Sorted(maps.Keys(file.Skills)) {
		var entry T
		err := json.Unmarshal(file.Skills[key], &entry)
		if err == nil {
			err = checkTexts(key, entry)
		}
		if err != nil {
			all = append(all, &record{lock: name, name: key, err: err})
			continue
		}
		all = append(all, make(key, entry))
	}
	return all, nil
}

// checkTexts returns an error if a text of an entry is too long or holds characters that
// a terminal would act on.
func checkTexts(key string, entry any) error {
	data, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	fields["its name"] = key
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, _ := fields[name].(string)
		if len(text) > maxField || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
			return fmt.Errorf("the entry's text %s is too long, or has control characters", name)
		}
	}
	return nil
}

// parseSource returns the source of a text. Relative paths start from dir.
func parseSource(text, dir string) (source.Source, error) {
	s, err := source.Parse(text, dir)
	if err == nil {
		return s, nil
	}
	if _, ok := errors.AsType[*source.RefusedError](err); ok {
		return source.Source{}, err
	}
	return source.Source{}, &source.RefusedError{Reason: "its source is not read: " + err.Error(), Remedy: "install it again with skills-mcp"}
}

// repository returns the text of a repository's source, for [source.Parse]: location is a
// URL or owner/repo.
func repository(location, ref string) string {
	switch {
	case strings.HasPrefix(location, "https://"), strings.HasPrefix(location, "http://"):
		location = "git+" + location
	case !strings.Contains(location, ":"):
		location = "github:" + location
	}
	if ref = shortRef(ref); ref != "" {
		location += "#" + url.PathEscape(ref)
	}
	return location
}

// shortRef returns the name of a branch or tag.
func shortRef(ref string) string {
	for _, prefix := range []string{"refs/heads/", "refs/tags/"} {
		if short, ok := strings.CutPrefix(ref, prefix); ok {
			return short
		}
	}
	return ref
}

// skillFolder returns the folder of a path that a lock has for a skill: the folder's or
// its SKILL.md's. The error is for one that leads out.
func skillFolder(name string) (string, error) {
	if len(name) >= len("SKILL.md") && strings.EqualFold(name[len(name)-len("SKILL.md"):], "SKILL.md") {
		name = name[:len(name)-len("SKILL.md")]
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if name != "" && name != "." && !isBelow(name) {
		return "", &source.RefusedError{Reason: fmt.Sprintf("its path %q leads out of the source", name), Remedy: "do not use this lock file; somebody has edited it"}
	}
	if name == "." {
		name = ""
	}
	return name, nil
}

// isBelow reports whether a text is a path below a folder, on every system.
func isBelow(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, `\:`)
}
