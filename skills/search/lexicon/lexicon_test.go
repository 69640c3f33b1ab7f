package lexicon

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

const sample = `
# a comment
invoice, bill > accounting | de Rechnung | zh 发票 | ja 請求書
pull request, merge request, pr > review
slow, takes forever > performance, latency
`

// TestRelated shows which words a query adds.
func TestRelated(t *testing.T) {
	for query, want := range map[string][]string{
		"send the invoices":          {"bill", "rechnung~de", "发票", "account."},
		"Rechnungen schreiben":       {"invoic", "bill", "发票", "account."},
		"开发票":                        {"invoic", "bill", "rechnung~de", "account."},
		"請求書を作る":                     {"invoic", "bill", "rechnung~de", "发票", "account."},
		"open a pull request":        {"pr", "review."},
		"pull the latest":            nil,
		"it takes forever to load":   {"slow", "perform.", "latenc."},
		"improve the performance":    nil, // one way only
		"takes":                      nil,
		"an invoice and its latency": {"bill", "rechnung~de", "发票", "account."},
	} {
		var got []string
		for _, m := range related(t, sample, query) {
			for _, r := range m.Related {
				term := r.Term
				if r.About {
					term += "."
				}
				got = append(got, term)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}

func related(t *testing.T, source, query string) []Match {
	t.Helper()
	a := text.New()
	lines, err := compile(a, source)
	if err != nil {
		t.Fatal(err)
	}
	l := read(lines)
	language := a.Detect(query)
	tokens := slices.Collect(a.Tokens(query, language))
	return l.Related(Words(tokens, func(w *text.Word) []string { return a.Natives(w, []text.Language{text.German}) }))
}

// TestSource finds no entry twice in a line and no line twice.
func TestSource(t *testing.T) {
	source := sourceOf(t)
	lines := map[string]bool{}
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if lines[line] {
			t.Errorf("twice: %s", line)
		}
		lines[line] = true
		for part := range strings.SplitSeq(line, "|") {
			seen := map[string]bool{}
			for word := range strings.FieldsFuncSeq(part, func(r rune) bool { return r == ',' || r == '>' }) {
				if word = strings.ToLower(strings.TrimSpace(word)); seen[word] || word == "" {
					t.Errorf("%q is twice or empty in %s", word, line)
				}
				seen[word] = true
			}
		}
	}
}

// TestBadSource names the line of a fault.
func TestBadSource(t *testing.T) {
	for bad, want := range map[string]string{
		"a\nb | xx c": `line 2: there is no language "xx"`,
		"a, ,b":       `line 1: "a, ,b" has no word`,
	} {
		if _, err := compile(text.New(), bad); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", bad, err, want)
		}
	}
}

// TestNoLeaps holds the words that led to a neighbour of their subject rather than to it.
func TestNoLeaps(t *testing.T) {
	source := sourceOf(t)
	for query, not := range map[string][]string{
		"noise":     {"audio", "podcast"},
		"login":     {"oauth", "saml", "jwt"},
		"schreiben": {"letter"},
		"server":    {"linux", "ssh"},
		"train":     {"railway", "bus"},
		"pull":      {"extract"},
		"chart":     {"helm"},
		"message":   {"email", "inbox"},
		"stars":     {"astronomi", "telescop"},
		"protocol":  {"laboratori", "experi"},
		"minutes":   {"meet"},
	} {
		for _, m := range related(t, source, query) {
			for _, r := range m.Related {
				if slices.Contains(not, r.Term) {
					t.Errorf("%q leads to %q", query, r.Term)
				}
			}
		}
	}
}
