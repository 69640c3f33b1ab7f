package dependencies

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder returns a file system of names and texts.
func folder(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

const script = `#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "requests<3",
#   "rich",
# ]
# ///
import requests
`

func TestFind(t *testing.T) {
	python, shell, node := []string{"python3"}, []string{"bash"}, []string{"/usr/bin/node", "-x"}
	for name, test := range map[string]struct {
		files       fstest.MapFS
		interpreter []string
		want        string // kind: packages
	}{
		"none":                       {folder("run", "print()"), python, ""},
		"no script":                  {folder(), python, ""},
		"inline":                     {folder("run", script), python, "python from run: requests<3, rich"},
		"inline with Windows' ends":  {folder("run", strings.ReplaceAll(script, "\n", "\r\n")), python, "python from run: requests<3, rich"},
		"inline before requirements": {folder("run", script, "requirements.txt", "flask"), python, "python from run: requests<3, rich"},
		"inline and empty":           {folder("run", "# /// script\n# dependencies = []\n# ///\n", "requirements.txt", "flask"), python, ""},
		"of another type":            {folder("run", "# /// pyproject\n# # /// script\n# dependencies = ['a']\n# ///\n"), python, ""},
		"not closed":                 {folder("run", "# /// script\n# dependencies = ['a']\n"), python, ""},
		"not at once":                {folder("run", "# /// script\n#dependencies = ['a']\n# ///\n"), python, ""},
		"closed twice":               {folder("run", "# /// script\n# x = '''\n# ///\n# '''\n# dependencies = ['a']\n# ///\n"), python, "python from run: a"},
		"requirements": {folder("requirements.txt", "\ufeff# all\nFlask [async] >= 2.0, !=2.1 # why\n\nuvloop; sys_platform != 'win32'\r\na==1 \\\n  --hash=sha256:00ff \\\n  --hash=sha256:11\n"), python,
			"python from requirements.txt: Flask [async] >= 2.0, !=2.1, uvloop; sys_platform != 'win32', a==1"},
		"a manifest beside Python": {folder("package.json", `{"dependencies": {"left-pad": "^1"}}`), python, ""},
		"manifest": {folder("package.json", `{"dependencies": {"left-pad": "^1", "@a/b": "*"}, "optionalDependencies": {"c": "1 || 2"}, "devDependencies": {"jest": "1"}}`), node,
			"node from package.json: @a/b@*, c@1 || 2, left-pad@^1"},
		"only for development":      {folder("package.json", `{"devDependencies": {"jest": "1"}}`), node, ""},
		"requirements beside Node":  {folder("requirements.txt", "flask"), node, ""},
		"a shell may call either":   {folder("run", script, "requirements.txt", "flask", "package.json", `{"dependencies": {"a": "1"}}`), shell, "python from requirements.txt: flask; node from package.json: a@1"},
		"nobody knows what runs it": {folder("requirements.txt", "flask"), nil, "python from requirements.txt: flask"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Find(test.files, "run", test.interpreter)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range found {
				got = append(got, fmt.Sprintf("%s from %s: %s", d.Kind, d.File, strings.Join(d.Packages, ", ")))
				if len(d.Digest) != len("sha256:")+64 {
					t.Errorf("digest %q", d.Digest)
				}
			}
			if s := strings.Join(got, "; "); s != test.want {
				t.Errorf("got %s\nwant %s", s, test.want)
			}
		})
	}
}

// TestNearest reads a file beside the script before one above it.
func TestNearest(t *testing.T) {
	python, node := []string{"python3"}, []string{"node"}
	manifest := `{"dependencies": {"a": "1"}}`
	for name, test := range map[string]struct {
		files       fstest.MapFS
		interpreter []string
		want        string // the file, with an error's message
	}{
		"beside":                   {folder("scripts/py/requirements.txt", "flask"), python, "scripts/py/requirements.txt"},
		"between":                  {folder("scripts/requirements.txt", "flask"), python, "scripts/requirements.txt"},
		"above":                    {folder("requirements.txt", "flask"), python, "requirements.txt"},
		"beside and above":         {folder("scripts/py/requirements.txt", "flask", "requirements.txt", "rich"), python, "scripts/py/requirements.txt"},
		"nothing beside":           {folder("scripts/py/requirements.txt", "# none", "requirements.txt", "rich"), python, "requirements.txt"},
		"elsewhere":                {folder("other/requirements.txt", "flask"), python, ""},
		"refused":                  {folder("scripts/py/requirements.txt", "-e ."), python, "scripts/py/requirements.txt:1"},
		"manifest beside":          {folder("scripts/py/package.json", manifest, "package.json", "{}"), node, "scripts/py/package.json"},
		"manifest that is a type":  {folder("scripts/py/package.json", `{"type": "module"}`, "package.json", manifest), node, "package.json"},
		"lock of another manifest": {folder("scripts/py/package.json", manifest, "package-lock.json", "nonsense"), node, "scripts/py/package.json"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			found, err := Find(test.files, "scripts/py/run", test.interpreter)
			if err != nil {
				got, _, _ = strings.Cut(err.Error(), ": ")
			}
			for _, d := range found {
				got += d.File
			}
			if got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	long := strings.Repeat("a\n", maxPackages+1)
	for want, files := range map[string]fstest.MapFS{
		`requirements.txt:2: "--index-url https://evil.example" is not taken`: folder("requirements.txt", "a\n--index-url https://evil.example\n"),
		`"-r other.txt"`:                             folder("requirements.txt", "-r other.txt"),
		`"-e ."`:                                     folder("requirements.txt", "-e ."),
		`"a @ https://evil.example/a.tar.gz"`:        folder("requirements.txt", "a @ https://evil.example/a.tar.gz"),
		`"git+https://evil.example/a"`:               folder("requirements.txt", "git+https://evil.example/a"),
		`"./a.whl"`:                                  folder("requirements.txt", "./a.whl"),
		`"a --no-binary :all:"`:                      folder("requirements.txt", "a --no-binary :all:"),
		`requirements.txt: it names 501 packages`:    folder("requirements.txt", long),
		`requirements.txt: it is larger than 64 KiB`: folder("requirements.txt", strings.Repeat(long, 100)),
		`run:2: its metadata is no TOML`:             folder("run", "\n# /// script\n# dependencies = [\n# ///\n"),
		`incompatible types`:                         folder("run", "# /// script\n# dependencies = 'a'\n# ///\n"),
		`run:5: there is a second block`:             folder("run", "# /// script\n# x=1\n# ///\n\n# /// script\n# x=1\n# ///\n"),
		`run:1: "a\n--no-binary=:all:" is not taken`: folder("run", "# /// script\n# dependencies = ['''a\n# --no-binary=:all:''']\n# ///\n"),
		`run:1: requires-python is "$(id)"`:          folder("run", "# /// script\n# dependencies = ['a']\n# requires-python = '$(id)'\n# ///\n"),
	} {
		_, err := Find(files, "run", []string{"python3"})
		var refused *Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) || refused.Remedy == "" {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for want, files := range map[string]fstest.MapFS{
		"package.json: it is no JSON":                   folder("package.json", `{"dependencies": [1]}`),
		"package-lock.json: it is no JSON":              folder("package.json", `{"dependencies": {"a": "1"}}`, "package-lock.json", "{"),
		`"a b@1" is not taken`:                          folder("package.json", `{"dependencies": {"a b": "1"}}`),
		`"a@file:../build" is not taken`:                folder("package.json", `{"dependencies": {"a": "file:../build"}}`),
		`"a@user/repo" is not taken`:                    folder("package.json", `{"dependencies": {"a": "user/repo"}}`),
		`"a@git+ssh://h/r" is not taken`:                folder("package.json", `{"optionalDependencies": {"a": "git+ssh://h/r"}}`),
		`"b@https://h/t.tgz" is not taken`:              folder("package.json", `{"dependencies": {"a": "1"}, "peerDependencies": {"b": "https://h/t.tgz"}}`),
		`"c@file:x" is not taken`:                       folder("package.json", `{"dependencies": {"a": "1"}, "overrides": {"b": {"c": "file:x"}}}`),
		`"b@[1]" is not taken`:                          folder("package.json", `{"dependencies": {"a": "1"}, "overrides": {"b": [1]}}`),
		"it has lockfileVersion 1":                      folder("package.json", `{"dependencies": {"a": "1"}}`, "package-lock.json", `{"lockfileVersion": 1}`),
		`"node_modules/a" is not taken`:                 folder("package.json", `{"dependencies": {"a": "1"}}`, "package-lock.json", `{"lockfileVersion": 3, "packages": {"node_modules/a": {"resolved": "git+ssh://h/r"}}}`),
		`"../build" is not taken`:                       folder("package.json", `{"dependencies": {"a": "1"}}`, "package-lock.json", `{"lockfileVersion": 3, "packages": {"../build": {"integrity": "x"}}}`),
		`"a@\x1b[31m" is not taken`:                     folder("package.json", `{"dependencies": {"a": "\u001b[31m"}}`),
		`".hidden@1" is not taken`:                      folder("package.json", `{"dependencies": {".hidden": "1"}}`),
		"package-lock.json: it is larger than 4096 KiB": folder("package.json", `{"dependencies": {"a": "1"}}`, "package-lock.json", strings.Repeat(" ", maxLock+1)),
	} {
		if _, err := Find(files, "run", []string{"node"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// What matters changes the digest, and nothing else does.
func TestDigest(t *testing.T) {
	of := func(interpreter string, files ...string) string {
		t.Helper()
		found, err := Find(folder(files...), "run", []string{interpreter})
		if err != nil || len(found) != 1 {
			t.Fatalf("found %v, %v", found, err)
		}
		return found[0].Digest
	}
	one := of("python3", "run", script)
	if other := of("python3", "run", "# a comment\n"+script+"print()\n"); other != one {
		t.Error("the rest of a script changes the digest")
	}
	if other := of("python3", "run", strings.ReplaceAll(script, "3.11", "3.12")); other == one {
		t.Error("requires-python does not change the digest")
	}
	const manifest = `{"name": "n", "dependencies": {"a": "1"}}`
	one = of("node", "package.json", manifest)
	if other := of("node", "package.json", `{"scripts": {"postinstall": "evil"}, "dependencies": {"a": "1"}, "name": "n"}`); other != one {
		t.Error("the scripts of package.json change the digest")
	}
	if other := of("node", "package.json", manifest, "package-lock.json", `{"lockfileVersion": 3, "packages": {}}`); other == one {
		t.Error("a lock file does not change the digest")
	}
}

func TestLock(t *testing.T) {
	found, err := Find(folder("run", script), "run", []string{"python3"})
	if err != nil {
		t.Fatal(err)
	}
	want := []File{{"requirements.txt", []byte("requests<3\nrich\n")}, {"requires-python", []byte(">=3.11\n")}}
	if diff := cmp.Diff(want, found[0].Lock); diff != "" {
		t.Error(diff)
	}
	found, err = Find(folder("package.json", `{"scripts": {"install": "evil"}, "bin": "x", "dependencies": {"a": "1"}}`), "run", []string{"node"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]File{{"package.json", []byte(`{"dependencies":{"a":"1"}}`)}}, found[0].Lock); diff != "" {
		t.Error(diff)
	}
}

func TestSummary(t *testing.T) {
	got := Summary([]Declared{{Kind: Python, Packages: []string{"a"}}, {Kind: Node, Packages: strings.Split("b c d e f g", " ")}})
	if want := "1 Python package (a) and 6 Node packages (b, c, d, e, f, …)"; got != want {
		t.Errorf("got %s", got)
	}
}

// Of a lock the addresses are left out: where packages come from is not the
// skill's to say.
func TestNodeLock(t *testing.T) {
	const locked = `{"lockfileVersion": 3, "name": "n", "scripts": {"x": "evil"}, "packages": {
		"": {"dependencies": {"a": "1"}},
		"node_modules/a": {"version": "1.0.0", "resolved": "https://evil.example/a.tgz", "integrity": "sha512-x"},
		"node_modules/a/node_modules/b": {"version": "1.0.0", "inBundle": true}}}`
	found, err := Find(folder("package.json", `{"dependencies": {"a": "1"}, "devDependencies": {"jest": "^1 || npm"}, "overrides": {"b": {"c": "$a"}}}`, "package-lock.json", locked), "run", []string{"node"})
	if err != nil {
		t.Fatal(err)
	}
	want := []File{
		{"package.json", []byte(`{"dependencies":{"a":"1"},"devDependencies":{"jest":"^1 || npm"},"overrides":{"b":{"c":"$a"}}}`)},
		{"package-lock.json", []byte(`{"name":"n","lockfileVersion":3,"requires":true,"packages":{"":{"dependencies":{"a":"1"}},"node_modules/a":{"integrity":"sha512-x","version":"1.0.0"},"node_modules/a/node_modules/b":{"inBundle":true,"version":"1.0.0"}}}`)},
	}
	if diff := cmp.Diff(want, found[0].Lock); diff != "" {
		t.Error(diff)
	}
}

// FuzzPython: whatever a skill declares is refused, or made into a list that
// means the same when it is read again.
func FuzzPython(f *testing.F) {
	for _, seed := range []string{script, "a==1 --hash=sha256:00", "a \\\n b", "a[b,c]>=1;python_version<'3'", "-r x", "a#b", "a # b\\\nc"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, script, requirements string) {
		found, err := Find(folder("run", script, "requirements.txt", requirements), "run", []string{"python3"})
		if err != nil || len(found) == 0 {
			return
		}
		lock := string(found[0].Lock[0].Data)
		for line := range strings.Lines(lock) {
			if strings.HasPrefix(line, "-") || strings.Contains(line, "://") || strings.Contains(line, "@") {
				t.Errorf("line %q", line)
			}
		}
		again, err := Find(folder("requirements.txt", lock), "run", []string{"python3"})
		if err != nil || len(again) != 1 {
			t.Fatalf("its own list is refused: %v\n%s", err, lock)
		}
		if got := string(again[0].Lock[0].Data); got != lock {
			t.Errorf("read again: %q\nwas %q", got, lock)
		}
	})
}

// FuzzNode: what is made of a manifest has only what is taken of one.
func FuzzNode(f *testing.F) {
	f.Add([]byte(`{"dependencies": {"a": "1"}, "overrides": {"b": "2"}}`), []byte(`{}`))
	f.Add([]byte(`{"optionalDependencies": {"@a/b": "file:x"}}`), []byte(`[`))
	f.Add([]byte(`{"dependencies": {"a": "npm:b@1"}}`), []byte(`{"lockfileVersion": 3, "packages": {"node_modules/a": {"integrity": "x"}}}`))
	f.Fuzz(func(t *testing.T, manifest, lock []byte) {
		fsys := fstest.MapFS{"package.json": {Data: manifest}, "package-lock.json": {Data: lock}}
		found, err := Find(fsys, "run", []string{"node"})
		if err != nil || len(found) == 0 {
			return
		}
		for _, file := range found[0].Lock {
			fsys[file.Name] = &fstest.MapFile{Data: file.Data}
		}
		again, err := Find(fsys, "run", []string{"node"})
		if err != nil || len(again) != 1 || again[0].Digest != found[0].Digest {
			t.Errorf("read again: %v, %v", again, err)
		}
	})
}
