package infer

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
)

// corpus is the folder of scripts and truths. Another one is for scripts that are not
// to be known yet.
var corpus = flag.String("corpus", "testdata/corpus", "read the scripts of this `folder`")

// TestCorpus compares what a scan reads of scripts with what their libraries define.
// The corpus was written from the documentation of the libraries before, and without
// looking at, the code that reads it. -v prints each difference.
func TestCorpus(t *testing.T) {
	scores := map[string]*score{}
	for _, file := range corpusScripts(t) {
		kind := filepath.Base(filepath.Dir(file))
		if scores[kind] == nil {
			scores[kind] = &score{}
		}
		want := readTruth(t, file+".json")
		got := scanned(t, file)
		result := compare(want, got)
		scores[kind].add(want, got, result)
		if problems := result.problems(); len(problems) > 0 && testing.Verbose() {
			t.Logf("%s/%s:\n\t%s", kind, filepath.Base(file), strings.Join(problems, "\n\t"))
		}
	}
	t.Log(table(scores))
	for kind, s := range scores {
		if share := 100 * s.exact / s.scripts; share < leastExact()[kind] {
			t.Errorf("%s: %d %% are exact, want %d %%", kind, share, leastExact()[kind])
		}
		if s.invented > 0 {
			t.Errorf("%s: %d arguments are invented", kind, s.invented)
		}
	}
}

// leastExact returns the percentage of each kind that has to be exact. It rises, or what fell is in the changelog:
// the aim is 95 for parseArgs and 100 for scripts without arguments.
func leastExact() map[string]int {
	return map[string]int{
		"parseargs": 96, "argv-node": 67,
		"argv-py": 82, "shell": 77, "none": 96, "unread": 100,
	}
}

// corpusScripts returns the paths of the scripts, sorted.
func corpusScripts(t *testing.T) []string {
	truths, err := filepath.Glob(filepath.Join(*corpus, "*", "*.json"))
	if err != nil || len(truths) == 0 {
		t.Fatalf("no corpus in %s: %v", *corpus, err)
	}
	for i, name := range truths {
		truths[i] = strings.TrimSuffix(name, ".json")
	}
	return truths
}

// A reading is the result of a scan of a script.
type reading struct {
	state  string // arguments, none or unknown, or missed for one that is no entry point
	schema *jsonschema.Schema
	notes  []skills.SourceNote
}

// scanned reads a script as the only one of a skill that says how to run it.
func scanned(t *testing.T, file string) reading {
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	script := path.Join("scripts", filepath.Base(file))
	runner := map[string]string{".py": "python3", ".sh": "bash", ".ts": "npx tsx"}[filepath.Ext(file)]
	if runner == "" {
		runner = "node"
	}
	instructions := fmt.Sprintf("# Skill\n\n```\n%s %s\n```\n", runner, script)
	fsys := fstest.MapFS{"SKILL.md": {Data: []byte(instructions)}, script: {Data: source}}
	sources := &Sources{}
	found := Find(fsys, instructions, sources)
	i := slices.IndexFunc(found.Scripts, func(s Script) bool { return s.Path == script })
	if i < 0 {
		return reading{state: "missed"}
	}
	entry := &skills.Entry{Script: script, Interpreter: found.Scripts[i].Interpreter}
	entry.SetUndeclared()
	Arguments(&skills.Skill{Name: "corpus", Files: fsys, Entry: entry}, sources)
	return readingOf(entry)
}

func readingOf(entry *skills.Entry) reading {
	cli, ok := entry.Args.(skills.ParsedCLI)
	if !ok {
		return reading{state: "unknown", notes: entry.Unread}
	}
	schema := cli.Schema()
	if cli.Stdin != "" {
		schema.Properties.Delete(cli.Stdin)
	}
	r := reading{state: "arguments", schema: schema, notes: entry.Unread}
	if schema.Properties.Len() == 0 {
		r.state = "none"
	}
	return r
}

// A score counts the scripts of a kind.
type score struct {
	scripts, exact, unread, wrong int
	params, invented, described   int
}

func (s *score) add(want truth, got reading, d differences) {
	s.scripts++
	s.invented += len(d.invented)
	s.params += d.params
	s.described += d.described
	switch {
	case len(d.problems()) == 0:
		s.exact++
	case want.State != "unknown" && (got.state == "unknown" || got.state == "missed"):
		s.unread++
	default:
		s.wrong++
	}
}

func table(scores map[string]*score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-14s %7s %6s %6s %6s %7s %9s %7s %9s\n", "kind", "scripts", "exact", "%", "wrong", "unread", "invented", "params", "described")
	total := score{}
	for _, kind := range sortedKeys(scores) {
		s := scores[kind]
		b.WriteString(s.row(kind))
		total.scripts += s.scripts
		total.exact += s.exact
		total.wrong += s.wrong
		total.unread += s.unread
		total.invented += s.invented
		total.params += s.params
		total.described += s.described
	}
	b.WriteString(total.row("all"))
	return b.String()
}

func (s *score) row(kind string) string {
	return fmt.Sprintf("%-14s %7d %6d %5.1f%% %6d %7d %9d %7d %9d\n", kind, s.scripts, s.exact, 100*float64(s.exact)/float64(max(1, s.scripts)), s.wrong, s.unread, s.invented, s.params, s.described)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
