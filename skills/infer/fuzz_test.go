package infer

import (
	"regexp"
	"testing"
	"unicode/utf8"
)

var validName = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

// FuzzFind: whatever two files hold, what is found of them is bounded and fit to
// be shown.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		pythonLine + `"""Doc."""` + "\n" + guard, "#!/bin/sh\r\n# Doc\r\nread -p x y\r\n", "\ufeff#!/usr/bin/env -S node --x\n/* Doc */", "#!\n", "#! \n",
		"#!/usr/bin/env\n", `"""\`, "'\\", "# ///\n", "/*", "\xff\xfe", "#!/usr/bin/env ruby\n#\xff",
	} {
		f.Add("run", "scripts/a.py", []byte(seed), "see scripts/a.py and run")
		f.Add("a.sh", "b/a.sh", []byte(seed), "a.sh")
	}
	f.Fuzz(func(t *testing.T, one, two string, text []byte, instructions string) {
		if len(text) > maxHead {
			return
		}
		files := folder(one, string(text), two, string(text))
		seen := map[string]bool{}
		for _, s := range Find(files, instructions, nil).Scripts {
			if !validName.MatchString(s.Name) || seen[s.Name] {
				t.Errorf("name %q", s.Name)
			}
			if seen[s.Name] = true; len(s.Interpreter) == 0 || len(s.Doc) > maxDoc || !utf8.ValidString(s.Doc) {
				t.Errorf("%+v", s)
			}
		}
	})
}
