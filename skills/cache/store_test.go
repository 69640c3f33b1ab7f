package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

func schemas() cmp.Option {
	return cmp.Options{cmpopts.IgnoreFields(skills.ParsedCLI{}, "CommandLine"), cmpopts.IgnoreUnexported(skills.Entry{}), cmp.Transformer("JSON", func(s *jsonschema.Schema) string {
		text, _ := json.Marshal(s)
		return string(text)
	})}
}

// The second scan reads no skill that loads, and comes to the same.
func TestSecondScan(t *testing.T) {
	root, file := tempDir(t), filepath.Join(tempDir(t), "sub", "cache")
	makeSkills(t, root, 50)
	want := plain(t, root)
	for i, wantHits := range []int{0, 40, 40} { // of five, one is broken
		got, hits := scanned(t, root, file, "1")
		same(t, want, got)
		if hits != wantHits {
			t.Errorf("scan %d found %d skills in the cache, want %d", i+1, hits, wantHits)
		}
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the cache: %v, %v", info, err)
	}
	if _, hits := scanned(t, root, file, "2"); hits > 0 {
		t.Errorf("another version found %d skills", hits)
	}
}

// Whatever outdates what is kept is noticed.
func TestOutdated(t *testing.T) {
	const skill, script = "skill-00000/SKILL.md", "skill-00000/run.sh"
	for name, change := range map[string]func(root string) error{
		"manifest": func(root string) error {
			return os.WriteFile(filepath.Join(root, skill), []byte("---\ndescription: Other.\n---\n"), 0o644)
		},
		"script": func(root string) error {
			return os.WriteFile(filepath.Join(root, script), []byte("#!/bin/sh\r\n"), 0o644)
		},
		"no script": func(root string) error { return os.Remove(filepath.Join(root, script)) },
		"new script": func(root string) error {
			return os.WriteFile(filepath.Join(root, "skill-00002/missing.py"), nil, 0o644)
		},
		"no skill": func(root string) error { return os.RemoveAll(filepath.Join(root, "skill-00000")) },
		"new skill": func(root string) error {
			return os.CopyFS(filepath.Join(root, "new"), os.DirFS(filepath.Join(root, "skill-00000")))
		},
		"renamed": func(root string) error {
			return os.Rename(filepath.Join(root, "skill-00000"), filepath.Join(root, "z"))
		},
		"link": func(root string) error {
			at := filepath.Join(root, script)
			return errors.Join(os.Remove(at), os.Symlink("/etc/passwd", at))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, file := tempDir(t), filepath.Join(tempDir(t), "cache")
			makeSkills(t, root, 10)
			before, _ := scanned(t, root, file, "1")
			must(t, change(root))
			got, hits := scanned(t, root, file, "1")
			same(t, plain(t, root), got)
			if cmp.Equal(before, got, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Files" }, cmp.Ignore()), schemas()) {
				t.Error("the change changed nothing")
			}
			if hits < 5 {
				t.Errorf("only %d skills were in the cache", hits)
			}
		})
	}
}

// What changed just now could change again without a trace, and is read again.
func TestUnsettled(t *testing.T) {
	root, file := tempDir(t), filepath.Join(tempDir(t), "cache")
	makeSkills(t, root, 5)
	store := New(file, nil)
	for range 2 {
		c := store.Open()
		_, err := scan.Scan(t.Context(), []scan.Root{{Dir: root}}, &scan.Options{Cache: func() scan.Cache { return c }})
		must(t, err)
		store.Wait()
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was kept all the same: %v", err)
	}
}

// A damaged file is as good as none, and replaced.
func TestDamage(t *testing.T) {
	root, file := tempDir(t), filepath.Join(tempDir(t), "cache")
	makeSkills(t, root, 5)
	want, _ := scanned(t, root, file, "1")
	good, err := os.ReadFile(file)
	must(t, err)
	flipped := []byte(string(good))
	flipped[len(good)/2] ^= 1
	for name, content := range map[string][]byte{
		"empty": {}, "text": []byte("hello"), "cut": good[:len(good)-7], "magic": []byte(magic), "flipped": flipped,
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(file, content, 0o600))
			got, hits := scanned(t, root, file, "1")
			same(t, want, got)
			if hits > 0 {
				t.Errorf("%d skills came from a damaged file", hits)
			}
			if _, hits := scanned(t, root, file, "1"); hits != 4 {
				t.Errorf("the file was not replaced: %d skills", hits)
			}
		})
	}
}

// Caches of other sets of roots stay, but not any number of them.
func TestOldCachesGo(t *testing.T) {
	root, dir := tempDir(t), tempDir(t)
	makeSkills(t, root, 1)
	for i := range maxCaches + 3 {
		name := filepath.Join(dir, fmt.Sprint(i))
		write(t, name, "old")
		must(t, os.Chtimes(name, time.Time{}, time.Now().Add(time.Duration(i-1000)*time.Second)))
	}
	scanned(t, root, filepath.Join(dir, "new"), "1")
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != maxCaches {
		t.Errorf("%d files stay, want %d", len(entries), maxCaches)
	}
	for _, gone := range []string{"0", "1", "2", "3"} {
		if _, err := os.Stat(filepath.Join(dir, gone)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the old file %s is there (%v)", gone, err)
		}
	}
}

// Every field of a skill comes back, also one that is added after this test.
func TestEveryFieldComesBack(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	kind := reflect.TypeFor[skills.Skill]()
	for i := range kind.NumField() {
		field := kind.Field(i)
		if !field.IsExported() {
			t.Errorf("the field %s is not kept, as it is not exported", field.Name)
		}
		switch field.Name {
		case "Files", "Of", "Stored": // they are not kept, but given again
			continue
		case "Unblocked": // a scan never sets it
			continue
		}
		skill := reflect.New(kind).Elem()
		fill(t, random, skill.Field(i), 0)
		b, err := encode(skill.Interface().(skills.Skill))
		if err != nil {
			t.Errorf("%s: %v", field.Name, err)
			continue
		}
		var got skills.Skill
		c := codec{reading: true, unread: b}
		c.value(reflect.ValueOf(&got).Elem())
		if diff := cmp.Diff(skill.Interface(), got, schemas()); diff != "" || c.err != nil || c.unread != "" {
			t.Errorf("%s (-kept +read), %v:\n%s", field.Name, c.err, diff)
		}
		if skill.Field(i).IsZero() {
			t.Errorf("%s was not tried", field.Name)
		}
	}
}

// fill puts values into v, of every type that a skill may be made of.
func fill(t *testing.T, random *rand.Rand, v reflect.Value, depth int) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, random, v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*jsonschema.Schema]() {
			s := &jsonschema.Schema{Type: "array", Default: []any{int64(1), 2.5, "x", nil, map[string]any{"y": true}}, Minimum: "3", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema, Not: jsonschema.TrueSchema}
			s.Properties.Set("b", &jsonschema.Schema{Type: "string"})
			s.Properties.Set("a", &jsonschema.Schema{Type: "integer"})
			v.Set(reflect.ValueOf(s))
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, random, v.Elem(), depth+1)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]*skills.Skill]() {
			v.Set(reflect.ValueOf([]*skills.Skill{{Name: "demo__tool", Entry: &skills.Entry{Args: skills.RawArgv{}}}}))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, random, v.Index(0), depth+1)
		fill(t, random, v.Index(1), depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, random, value, depth+1)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[skills.Args]() {
			in := skills.Input{Argv: []string{"run"}}
			fill(t, random, reflect.ValueOf(&in.Object).Elem(), depth+1)
			fill(t, random, reflect.ValueOf(&in.Params).Elem(), depth+1)
			v.Set(reflect.ValueOf(in))
			return
		}
		v.Set(reflect.ValueOf(map[string]any{"list": []any{int64(-1), "text", nil, 0.5, false}}))
	case reflect.Bool:
		v.SetBool(true)
	default:
		value, ok := quick.Value(v.Type(), random)
		if !ok {
			t.Fatalf("no value of %s", v.Type())
		}
		v.Set(value)
		if v.IsZero() {
			fill(t, random, v, depth)
		}
	}
}

// What cannot be kept is an error, not half of it.
func TestUnkeepable(t *testing.T) {
	nested := any("x")
	for range maxNested + 1 {
		nested = []any{nested}
	}
	for name, value := range map[string]map[string]any{
		"int":    {"x": 1},
		"func":   {"x": func() {}},
		"nested": {"x": nested},
	} {
		if _, err := encode(skills.Skill{Frontmatter: value}); !errors.Is(err, errKind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A skill comes back with its tools, which know it and where it is.
func TestTools(t *testing.T) {
	skill := &skills.Skill{Name: "demo", Dir: "/d", File: "/d/SKILL.md", Plugin: "p", Source: skills.SourceUser}
	tool := *skill
	tool.File = "/d/tools.yaml"
	tool.Name, tool.Of, tool.Entry = "demo__run", skill, &skills.Entry{Script: "run.sh", Args: skills.Flags{{Name: "a", Required: true}}}
	skill.Tools = []*skills.Skill{&tool}
	looks, _ := encodeLooks(nil, time.Now())
	e, err := newSkillEntry(looks, skill)
	must(t, err)
	c := &cache{entries: map[string]*entry{"skey": e}}
	got := &skills.Skill{Dir: "/d", File: "/d/SKILL.md", Plugin: "p", Source: skills.SourceUser}
	if !c.Skill("key", got) {
		t.Fatal("it is not kept")
	}
	if len(got.Tools) != 1 || got.Tools[0].Of != got {
		t.Fatalf("tools %+v", got.Tools)
	}
	if tool := got.Tools[0]; tool.QualifiedName() != "p/demo__run" || tool.File != "/d/tools.yaml" || tool.Dir != got.Dir || len(tool.Entry.Params()) != 1 {
		t.Errorf("tool %+v", tool)
	}
}

// A tool's instructions and frontmatter are its skill's and written once. A skill with
// others is not kept, and one without a tool in its list is damaged.
func TestShared(t *testing.T) {
	owner := skills.Skill{Name: "a", Frontmatter: map[string]any{"k": "v"}, Instructions: "Do it.", Keywords: []string{"x"}}
	own := skills.Skill{Name: "a__b", Frontmatter: owner.Frontmatter, Instructions: "Do it.", Keywords: []string{"y"}}
	owner.Tools = []*skills.Skill{&own}
	e, err := newSkillEntry("", &owner)
	must(t, err)
	if strings.Count(e.value, "Do it.") != 1 || own.Frontmatter == nil {
		t.Errorf("the entry has %q, of %+v", e.value, own)
	}
	var got skills.Skill
	if !e.fill("", &got) || !cmp.Equal(got.Tools[0].Frontmatter, owner.Frontmatter) || got.Tools[0].Instructions != "Do it." || got.Tools[0].Keywords[0] != "y" {
		t.Errorf("it comes back as %+v", got)
	}
	own.Instructions = "Do something else."
	if _, err := newSkillEntry("", &owner); !errors.Is(err, errKind) {
		t.Errorf("other instructions: %v", err)
	}
	value, err := encode(skills.Skill{Tools: []*skills.Skill{nil}})
	must(t, err)
	if e := (&entry{value: value}); e.fill("", &skills.Skill{}) {
		t.Error("an entry without its tool is accepted")
	}
}

// The schema of a parsed command line is decoded when somebody asks for it, once, and
// accepts nothing if it is damaged.
func TestStoredSchema(t *testing.T) {
	object := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	object.Properties.Set("a", &jsonschema.Schema{Type: "string"})
	want := skills.ParsedCLI{Object: object, Files: []skills.FileParam{{Name: "a", Read: true}}}
	e, err := newSkillEntry("", &skills.Skill{Name: "demo", Entry: &skills.Entry{Args: want}})
	must(t, err)
	var s skills.Skill
	if !e.fill("", &s) {
		t.Fatal("it is not kept")
	}
	got := s.Entry.Args.(skills.ParsedCLI)
	if first := got.Schema(); got.Object != nil || got.Schema() != first || !cmp.Equal(first, object, schemas()) || !cmp.Equal(got.Files, want.Files) {
		t.Errorf("it comes back as %+v with the schema %+v", got, got.Schema())
	}
	again, err := newSkillEntry("", &s)
	must(t, err)
	if again.value != e.value {
		t.Errorf("what was read is written as %q, not as %q", again.value, e.value)
	}
	for _, damaged := range []string{"", "\x00", "\x01\xff"} {
		if schema := decodeSchema(damaged); schema != jsonschema.FalseSchema {
			t.Errorf("%q is the schema %+v", damaged, schema)
		}
	}
}

// inMemory is a file that is not on disk.
type inMemory struct{ *strings.Reader }

func (inMemory) Name() string { return "memory" }

// FuzzParse reads files that anything may be in: with their checksum right, as it
// shields the rest.
func FuzzParse(f *testing.F) {
	skill := skills.Skill{Name: "a", Frontmatter: map[string]any{"k": []any{int64(1), "x"}}, Entry: &skills.Entry{Args: skills.Flags{{Name: "p", Schema: &jsonschema.Schema{Type: "string", Default: "d"}}}}}
	skill.Tools = []*skills.Skill{{Name: "a__b", Frontmatter: skill.Frontmatter}}
	value, err := encode(withoutPlace(&skill))
	must(f, err)
	f.Add(value, "")
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", strings.Repeat("\x0e\x02", 100))
	f.Fuzz(func(t *testing.T, value, looks string) {
		var content strings.Builder
		_, err := format(&content, map[string]*entry{"sk": {looks: looks, value: value, text: &text{pending: looks}}, "f/d": {looks: looks, value: value}}, "v")
		must(t, err)
		entries, err := parse(inMemory{strings.NewReader(content.String())}, int64(content.Len()), "v")
		if err != nil {
			t.Fatal(err)
		}
		if e := entries["sk"]; looks != "" {
			if text, err := e.text.read(); err != nil || text != looks {
				t.Errorf("text %q, %v, want %q", text, err, looks)
			}
		}
		for _, content := range []string{value + looks, magic + value + looks} {
			if _, err := parse(inMemory{strings.NewReader(content)}, int64(len(content)), "v"); err == nil {
				t.Skip()
			}
		}
		if got, err := decode[skills.Skill](value); err == nil {
			if _, err := encode(got); err != nil {
				t.Errorf("a skill that was read cannot be written: %v", err)
			}
			s := &skills.Skill{Dir: "/d"}
			if e := (&entry{value: value}); e.fill("", s) {
				withoutPlace(s)
			}
		}
		c := &cache{entries: entries}
		c.Folder("/d")
	})
}

// BenchmarkSecondScan tells what a scan costs where nothing has changed.
func BenchmarkSecondScan(b *testing.B) {
	root, file := tempDir(b), filepath.Join(tempDir(b), "cache")
	makeSkills(b, root, 10_000)
	scanned(b, root, file, "1")
	for b.Loop() {
		scanned(b, root, file, "1")
	}
}
