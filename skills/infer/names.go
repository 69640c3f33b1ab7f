package infer

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

// maxName is the maximum length of a script's name: a tool's name has the skill's
// before it.
const maxName = 40

// Names returns a name for each path, of at most 40 letters of [a-z0-9_-],
// each different: "scripts/make-report.py" is "make_report". If two would
// share a name, each gets its extension ("make_report_py"), else its folders, else a
// hash of its path. The order of paths does not matter. The
// paths must differ.
func Names(paths []string) []string {
	names, form := make([]string, len(paths)), make([]int, len(paths))
	for {
		claims := map[string]int{}
		for i, p := range paths {
			names[i] = nameOf(p, form[i])
			claims[names[i]]++
		}
		settled := true
		for i, name := range names {
			if form[i] < lastForm && (claims[name] > 1 || len(name) > maxName || name == "") {
				form[i]++
				settled = false
			}
		}
		if settled {
			return names
		}
	}
}

const lastForm = 4

// nameOf returns the name of a path in one of its forms, the shortest first.
func nameOf(name string, form int) string {
	base, ext := path.Base(name), path.Ext(name)
	switch form {
	case 0:
		return plain(strings.TrimSuffix(base, ext))
	case 1:
		return plain(base)
	case 2:
		return plain(strings.TrimSuffix(name, ext))
	case 3:
		return plain(name)
	}
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:4])
	stem := plain(strings.TrimSuffix(base, ext))
	stem = strings.Trim(stem[:min(len(stem), maxName-len("_")-len(hash))], "_")
	if stem == "" {
		stem = "script"
	}
	return stem + "_" + hash
}

// plain returns a text in the letters of names, with each run of others as one
// underscore.
func plain(text string) string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(fields, "_")
}
