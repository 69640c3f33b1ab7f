package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/lexicon"
)

// demo is a catalog of a few skills; the last is for persons only.
func demo() *skills.Catalog {
	return catalogOf(
		&skills.Skill{Name: "pdf-forms", Plugin: "office", Description: "Fill in and flatten PDF forms. Do not use for contracts.", ModelInvocable: true},
		&skills.Skill{Name: "contract-review", Description: "Reads a contract and lists risky clauses.", Instructions: "# How\n\nLook for liability.\n\n## When to use\n\n- before signing an agreement\n", ModelInvocable: true},
		&skills.Skill{Name: "kube-deploy", Description: "Roll out services to Kubernetes.", Keywords: []string{"helm"}, ModelInvocable: true},
		&skills.Skill{Name: "code-review", DisplayName: "Review of code", Description: "Comments on a branch before it is merged.", ModelInvocable: true},
		&skills.Skill{Name: "invoice-chase", Description: "Sends reminders for unpaid invoices.", WhenToUse: "When customers pay late.", ModelInvocable: true},
		&skills.Skill{Name: "rechnungen", Description: "Erstellt Rechnungen für Kunden und prüft die Umsatzsteuer.", ModelInvocable: true},
		&skills.Skill{Name: "zh-notes", Description: "把会议录音整理成会议纪要", ModelInvocable: true},
		&skills.Skill{Name: "payroll-secrets", Description: "Shows what each colleague earns."},
	)
}

func catalogOf(all ...*skills.Skill) *skills.Catalog {
	slices.SortFunc(all, func(a, b *skills.Skill) int { return strings.Compare(a.QualifiedName(), b.QualifiedName()) })
	return &skills.Catalog{Skills: all}
}

func find(t testing.TB, x *Index, c *skills.Catalog, q Query) Result {
	t.Helper()
	r, err := x.Search(context.Background(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(r Result) (all []string) {
	for _, h := range r.Hits {
		all = append(all, h.Skill.QualifiedName())
	}
	return all
}

// The first hit answers the words of a person: other forms of a word, typing mistakes,
// beginnings of words, compounds, and other languages.
func TestSearch(t *testing.T) {
	x, c := New(nil), demo()
	for query, want := range map[string]string{
		"filling out a form":            "office/pdf-forms",
		"kubernets rollout":             "kube-deploy",
		"kubern":                        "kube-deploy",
		"sign an agreement":             "contract-review",
		"liability":                     "contract-review",
		"contract":                      "contract-review",
		"customers who do not pay":      "invoice-chase",
		"Rechnung für einen Kunden":     "rechnungen",
		"会议纪要":                          "zh-notes",
		"codereview":                    "code-review",
		"what is helm good for":         "kube-deploy",
		"CODE REVIEW":                   "code-review",
		"How do I review code, please?": "code-review",
	} {
		if got := names(find(t, x, c, Query{Text: query})); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %q, want %s first", query, got, want)
		}
	}
}

// An exact name is first in any spelling.
func TestNames(t *testing.T) {
	x, c := New(nil), demo()
	for query, want := range map[string]string{
		"office/pdf-forms": "office/pdf-forms", "pdf-forms": "office/pdf-forms", "PDF Forms": "office/pdf-forms", "pdf_forms": "office/pdf-forms",
		"office__pdf-forms": "office/pdf-forms", "/contract-review": "contract-review", "ContractReview": "contract-review", "Review of Code": "code-review",
		c.Skills[0].HashedToolName(): c.Skills[0].QualifiedName(),
	} {
		for _, q := range []Query{{Text: query}, {Text: query, Alternatives: []string{"fill a form", "kubernetes rollout"}}} {
			if r := find(t, x, c, q); len(r.Hits) == 0 || r.Hits[0].Skill.QualifiedName() != want || r.Doubtful {
				t.Errorf("%q: %q, doubtful %t; want %s", query, names(r), r.Doubtful, want)
			}
		}
	}
}

// What no skill is about is doubtful, and a name with a typing mistake unsure.
func TestNothingFits(t *testing.T) {
	x, c := New(nil), demo()
	for _, query := range []string{"bake sourdough bread", "qwertz", "", "?!"} {
		r := find(t, x, c, Query{Text: query})
		if query != "" && query != "?!" && !r.Doubtful {
			t.Errorf("%q: %q are no doubt", query, names(r))
		}
	}
	if r := find(t, x, c, Query{Text: "pdf-fromz"}); !r.Unsure || r.Doubtful {
		t.Errorf("%q: unsure %t, doubtful %t", names(r), r.Unsure, r.Doubtful)
	}
	if r := find(t, x, c, Query{Text: "kubedeplyo"}); !slices.Contains(names(r), "kube-deploy") {
		t.Errorf("found %q", names(r))
	}
}

// A word of a name comes before a mention, and neither the stem of a word nor what a
// description excludes misleads.
func TestNamesBeforeMentions(t *testing.T) {
	x := New(nil)
	mention := strings.Repeat("Install the chart with helm. ", 20)
	c := catalogOf(
		&skills.Skill{Name: "helm-charts", Description: "Packages of services for a cluster.", ModelInvocable: true},
		&skills.Skill{Name: "rollout", Description: "Deploys with helm to a cluster.", Instructions: mention, ModelInvocable: true},
		&skills.Skill{Name: "azure-storage-py", Description: "Reads and writes blobs.", ModelInvocable: true},
		&skills.Skill{Name: "azure-storage-java", Description: "Reads and writes blobs, in ways that a script in Python may copy.", ModelInvocable: true},
		&skills.Skill{Name: "vanilla-js", Description: "Pages without a framework.", ModelInvocable: true},
		&skills.Skill{Name: "spreadsheets", Description: "Fills in tables. Do not use for slides. Formulas instead of values.", ModelInvocable: true},
	)
	for query, want := range map[string]string{
		"helm":                 "helm-charts",
		"azure blobs python":   "azure-storage-py",
		"vans":                 "",
		"vanill":               "vanilla-js",
		"slides":               "",
		"formulas, not values": "spreadsheets",
	} {
		got := append(names(find(t, x, c, Query{Text: query})), "")
		if got[0] != want {
			t.Errorf("%q: %q, want %q first", query, got, want)
		}
	}
}

// A model's result is the same whatever skills there are that it may not see.
func TestHiddenSkillsCountNowhere(t *testing.T) {
	c := demo()
	visible := func(s *skills.Skill) bool { return s.ModelInvocable }
	less := &skills.Catalog{Skills: slices.DeleteFunc(slices.Clone(c.Skills), func(s *skills.Skill) bool { return !visible(s) })}
	without := func(s *skills.Skill) bool { return s.Name != "code-review" }
	least := &skills.Catalog{Skills: slices.DeleteFunc(slices.Clone(less.Skills), func(s *skills.Skill) bool { return !without(s) })}
	x, y, z := New(nil), New(nil), New(nil)
	for _, text := range []string{"what a colleague earns", "earn", "review", "contract review", "customers", "payroll-secrets", "code-review", "revew", "merged branch"} {
		if diff := compare(find(t, x, c, Query{Text: text}), find(t, y, less, Query{Text: text})); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		if diff := compare(find(t, x, c, Query{Text: text, Keep: without}), find(t, z, least, Query{Text: text})); diff != "" {
			t.Errorf("%q, with Keep: %s", text, diff)
		}
	}
	if got := names(find(t, x, c, Query{Text: "what a colleague earns", Person: true})); len(got) == 0 || got[0] != "payroll-secrets" {
		t.Errorf("a person finds %q", got)
	}
}

// compare compares all of two results.
func compare(a, b Result) string {
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Hit{}), cmp.Comparer(func(a, b *skills.Skill) bool { return a == b }))
}

// A skill and its tools are one hit, but for a tool that matches better.
func TestTools(t *testing.T) {
	owner := &skills.Skill{Name: "images", Description: "Changes images.", Instructions: strings.Repeat("Resize, crop and rotate images. ", 20), ModelInvocable: true}
	for _, tool := range []string{"resize", "crop", "rotate", "watermark"} {
		param := skills.Param{Name: tool + "_amount", Schema: &jsonschema.Schema{Description: "How far to " + tool}}
		owner.Tools = append(owner.Tools, &skills.Skill{
			Name: "images__" + tool, Of: owner, Description: "Will " + tool + " an image.", ModelInvocable: true,
			Entry: &skills.Entry{Args: skills.Flags{param}},
		})
	}
	c := catalogOf(append([]*skills.Skill{owner, {Name: "paint", Description: "Paints images.", ModelInvocable: true}}, owner.Tools...)...)
	x := New(nil)
	if got := names(find(t, x, c, Query{Text: "images"})); !slices.Equal(got, []string{"images", "paint"}) {
		t.Errorf("images: %q", got)
	}
	if got := names(find(t, x, c, Query{Text: "watermark amount"})); len(got) == 0 || len(got) > 2 || !slices.Contains(got, "images__watermark") {
		t.Errorf("watermark: %q", got)
	}
	if got := names(find(t, x, c, Query{Text: "images__crop"})); got[0] != "images__crop" {
		t.Errorf("the tool's name: %q", got)
	}
}

// Each line that says why a skill was found is short and of one line.
func TestWhy(t *testing.T) {
	x, c := New(nil), demo()
	r := find(t, x, c, Query{Text: "unpaid invoice reminders"})
	if got, want := r.Hits[0].Why(), `reminders, unpaid, invoices in the description`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if why := (Hit{Skill: c.Skills[0]}).Why(); why != "" {
		t.Errorf("without a query: %q", why)
	}
	checkWhy(t, r)
}

func checkWhy(t testing.TB, r Result) {
	for _, h := range r.Hits {
		if why := h.Why(); len(why) > MaxWhy || strings.ContainsAny(why, "\r\n\x00\x1b") || !utf8.ValidString(why) {
			t.Errorf("%s: %q", h.Skill.Name, why)
		}
	}
}

// Updates, in any order and number, make the index that a new one of the same catalog
// is.
func TestUpdateEqualsNew(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("review code contract invoice kubernetes deploy pdf form image resize customer email report data table test error slow query branch merge")
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[random.IntN(len(words))] + " ")
		}
		return b.String()
	}
	made := 0
	create := func() *skills.Skill {
		made++
		return &skills.Skill{Name: fmt.Sprintf("s%d", made), Description: text(6), Instructions: text(30), Keywords: words[:random.IntN(3)], ModelInvocable: random.IntN(5) > 0}
	}
	var all []*skills.Skill
	for range 40 {
		all = append(all, create())
	}
	x := New(nil)
	for step := range 150 {
		for range 1 + random.IntN(3) {
			switch i := random.IntN(len(all)); random.IntN(4) {
			case 0:
				all = append(all, create())
			case 1:
				if len(all) > 10 {
					all = slices.Delete(all, i, i+1)
				}
			default:
				changed := *all[i]
				changed.Description = text(6)
				all[i] = &changed
			}
		}
		c := catalogOf(slices.Clone(all)...)
		if err := x.Update(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		if step%10 != 0 {
			continue
		}
		y := New(nil)
		for _, q := range []Query{{Text: text(2)}, {Text: text(5), Person: true}, {Text: "kubernets"}, {Text: text(1), Alternatives: []string{text(2), text(3)}}, {Text: "im"}} {
			if diff := compare(find(t, x, c, q), find(t, y, c, q)); diff != "" {
				t.Fatalf("step %d, %q: %s", step, q.Text, diff)
			}
		}
		s := x.last.Load()
		if n := len(s.docs); n != len(all) {
			t.Fatalf("%d documents of %d skills", n, len(all))
		}
	}
}

// An update that is cancelled changes nothing, and the next one makes up for it.
func TestCancelledUpdate(t *testing.T) {
	x, c := New(nil), demo()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := x.Update(ctx, c); err == nil {
		t.Error("a cancelled update has no error")
	}
	if _, err := x.Search(ctx, c, Query{Text: "contract"}); err == nil {
		t.Error("a cancelled search has no error")
	}
	if got := names(find(t, x, c, Query{Text: "contract"})); len(got) == 0 {
		t.Error("nothing is found")
	}
}

// Whatever a person writes is answered, within the bounds, and the same each time.
func FuzzSearch(f *testing.F) {
	for _, seed := range []string{"", "pdf form", "k8s", "“”()[]", "会议", "a b c d e f", "\xff\xfe(", "naïve façade", "(ZQP)", strings.Repeat("word ", 3000), "x-y_z/ä"} {
		f.Add(seed, seed)
	}
	x, c := New(nil), demo()
	f.Fuzz(func(t *testing.T, text, other string) {
		q := Query{Text: text, Alternatives: []string{other, text}}
		r := find(t, x, c, q)
		if len(r.Hits) > MaxHits || r.Total < len(r.Hits) {
			t.Errorf("%d hits of %d", len(r.Hits), r.Total)
		}
		if !slices.IsSortedFunc(r.Hits, func(a, b Hit) int { return cmpDescending(a.Score, b.Score) }) {
			t.Errorf("not sorted: %v", r.Hits)
		}
		checkWhy(t, r)
		if diff := compare(r, find(t, x, c, q)); diff != "" {
			t.Error(diff)
		}
	})
}

func cmpDescending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// An index of any texts, updated, is that of a new one.
func FuzzUpdate(f *testing.F) {
	f.Add("name", "Long Form (LF). Do not use for x.", "# When to use\n- y\n```\n# code\n", "long form")
	f.Add("ß", "", "**When not to use**\n(A)", "ss")
	f.Add("中", "中文技能", "\xff", "中文")
	words := sync.OnceValue(lexicon.New)
	f.Fuzz(func(t *testing.T, name, description, body, query string) {
		s := &skills.Skill{Name: name, Description: description, Instructions: body, ModelInvocable: true}
		x, y := New(nil), New(nil)
		x.lexicon, y.lexicon = words, words
		find(t, x, demo(), Query{Text: query})
		c := catalogOf(append(demo().Skills, s)...)
		for _, q := range []Query{{Text: query}, {Text: name}, {Text: description, Person: true}} {
			r := find(t, x, c, q)
			if diff := compare(r, find(t, y, c, q)); diff != "" {
				t.Errorf("%q: %s", q.Text, diff)
			}
			checkWhy(t, r)
		}
	})
}

// Searches and updates go on at the same time.
func TestConcurrent(t *testing.T) {
	x := New(nil)
	catalogs := []*skills.Catalog{demo(), demo(), demo()}
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			for n := range 20 {
				c := catalogs[(i+n)%len(catalogs)]
				r, err := x.Search(context.Background(), c, Query{Text: "review a contract"})
				if err != nil || len(r.Hits) == 0 || !slices.Contains(c.Skills, r.Hits[0].Skill) {
					t.Errorf("%v, %v", r.Hits, err)
				}
				r.Hits[0].Why()
			}
		})
	}
	group.Wait()
}
