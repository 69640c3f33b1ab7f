package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// A query is a line of the labelled set.
type query struct {
	ID, Kind, Lang string
	Query          string
	Alternatives   []string
	Want           []string // the right skills; none where nothing fits
	Also           []string // others that are acceptable
	File           string   // the right skill's file, where its name is not unique; in other sets only
}

// nothing is the kind of query that no skill fits.
const nothing = "nothing"

// A half is a part of the queries.
type half string

const (
	development half = "development" // for choosing weights
	test        half = "test"        // for judging them
	all         half = "all"
)

// half returns the half of a query. It depends on the id alone, so that nobody chooses;
// what follows a # does not count, so that the queries of one skill stay together.
func (q query) half() half {
	id, _, _ := strings.Cut(q.ID, "#")
	if sum := sha256.Sum256([]byte(id)); sum[0]&0x80 == 0 {
		return development
	}
	return test
}

// labelled is a catalog with queries whose answers are known.
type labelled struct {
	catalog *skills.Catalog
	queries []query
	dir     string // to remove; "" for none
}

func (s *labelled) close() {
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// of returns the queries of a half.
func (s *labelled) of(h half) []query {
	var some []query
	for _, q := range s.queries {
		if h == all || q.half() == h {
			some = append(some, q)
		}
	}
	return some
}

// testdata returns the repository's set. The caller closes it.
func testdata(ctx context.Context) (*labelled, error) {
	root, err := folder()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "skills-mcp-search-")
	if err != nil {
		return nil, err
	}
	archives, _ := filepath.Glob(filepath.Join(root, "skills", "*.txtar"))
	for _, archive := range archives {
		if err := unpack(archive, dir); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	files, _ := filepath.Glob(filepath.Join(root, "queries", "*.jsonl"))
	set, err := readSet(ctx, []string{dir}, files)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	set.dir = dir
	return set, nil
}

// folder returns the path of testdata from the module's root or from this folder.
func folder() (string, error) {
	for _, dir := range []string{"testdata", filepath.Join("integration", "bench", "search", "testdata")} {
		if _, err := os.Stat(filepath.Join(dir, "queries")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("no testdata here; start it in the module's root")
}

// unpack writes the files of an archive below dir.
func unpack(archive, dir string) error {
	a, err := txtar.ParseFile(archive)
	if err != nil {
		return err
	}
	for _, f := range a.Files {
		if !filepath.IsLocal(f.Name) {
			return fmt.Errorf("%s: the file %q leaves the folder", archive, f.Name)
		}
		path := filepath.Join(dir, f.Name)
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s: %s is there twice", archive, f.Name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readSet scans the skills and plugins of folders, and reads the queries.
func readSet(ctx context.Context, dirs, files []string) (*labelled, error) {
	var all []scan.Root
	for _, dir := range dirs {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, roots(dir)...)
	}
	catalog, err := scan.Scan(ctx, all, nil)
	if err != nil {
		return nil, err
	}
	if len(catalog.Skills) == 0 {
		return nil, fmt.Errorf("no skills in %s", strings.Join(dirs, ", "))
	}
	set := &labelled{catalog: single(catalog)}
	for _, file := range files {
		if err := set.read(file); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// single returns the catalog with one skill of each bare name, in English where there is
// one: other people's folders have copies, and a query means any of them.
func single(c *skills.Catalog) *skills.Catalog {
	first := map[string]*skills.Skill{}
	one := &skills.Catalog{Problems: c.Problems}
	for _, s := range c.Skills {
		owner := s.Owner()
		if first[owner.Name] == nil || !isASCII(first[owner.Name]) && isASCII(owner) {
			first[owner.Name] = owner
		}
	}
	for _, s := range c.Skills {
		if first[s.Owner().Name] == s.Owner() {
			one.Skills = append(one.Skills, s)
		}
	}
	return one
}

// isASCII reports whether the description of a skill is plain English letters, but for
// dashes and quotes.
func isASCII(s *skills.Skill) bool {
	return !strings.ContainsFunc(s.Description, func(r rune) bool { return r >= 0x80 && unicode.IsLetter(r) })
}

// sized returns a filter that keeps some n skills: those that a query wants, and others
// that its id chooses.
func (s *labelled) sized(q query, n int) func(*skills.Skill) bool {
	kept := map[*skills.Skill]bool{}
	for _, skill := range s.catalog.Skills {
		if slices.Contains(q.Want, skill.QualifiedName()) {
			kept[skill] = true
		}
	}
	seed := sha256.Sum256([]byte(q.ID))
	for _, i := range rand.New(rand.NewChaCha8(seed)).Perm(len(s.catalog.Skills)) {
		if len(kept) >= n {
			break
		}
		kept[s.catalog.Skills[i].Owner()] = true
	}
	return func(skill *skills.Skill) bool { return kept[skill.Owner()] }
}

// roots are skills/ and plugins/ of a folder, or the folder itself.
func roots(dir string) []scan.Root {
	var list []scan.Root
	for _, name := range []string{"skills", "plugins"} {
		if below := filepath.Join(dir, name); isDir(below) {
			list = append(list, scan.Root{Dir: below, Plugins: name == "plugins", Source: skills.SourceUser})
		}
	}
	if len(list) == 0 {
		list = []scan.Root{{Dir: dir, Source: skills.SourceUser}}
	}
	return list
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// read adds the queries of a file.
func (s *labelled) read(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var q query
		err := json.Unmarshal(lines.Bytes(), &q)
		if err == nil {
			err = s.resolve(&q)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
		s.queries = append(s.queries, q)
	}
	return lines.Err()
}

// resolve makes qualified names of the labels of a query.
func (s *labelled) resolve(q *query) error {
	if (q.Kind == nothing) != (len(q.Want) == 0) {
		return fmt.Errorf("%s is of the kind %q and wants %q", q.ID, q.Kind, q.Want)
	}
	if q.File != "" {
		for _, skill := range s.catalog.Skills {
			if skill.Of == nil && strings.HasSuffix(skill.File, q.File) {
				q.Want = []string{skill.QualifiedName()}
			}
		}
	}
	for _, names := range [][]string{q.Want, q.Also} {
		for i, name := range names {
			skill, err := s.catalog.Lookup(name)
			if ambiguous := (*skills.NotFoundError)(nil); errors.As(err, &ambiguous) && ambiguous.Ambiguous {
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", q.ID, err)
			}
			names[i] = skill.QualifiedName()
		}
	}
	return nil
}
