package uritemplate

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		template, uri string
		want          map[string]string // nil is no match
	}{
		{"weather://{city}/today", "weather://Bonn/today", map[string]string{"city": "Bonn"}},
		{"weather://{city}/today", "weather://New%20York/today", map[string]string{"city": "New York"}},
		{"weather://{city}/today", "weather://a%2Fb/today", map[string]string{"city": "a/b"}},
		{"weather://{city}/today", "weather:///today", nil},
		{"weather://{city}/today", "weather://a/b/today", nil},
		{"weather://{city}/today", "weather://a%zz/today", nil},
		{"weather://{city}/today", "weather://%ff/today", nil},
		{"weather://{city}/today", "weather://Bonn/today/", nil},
		{"a:{x}-{y}", "a:1-2-3", map[string]string{"x": "1-2", "y": "3"}},
		{"a:{x}?q={y}", "a:1?q=2", map[string]string{"x": "1", "y": "2"}},
		{"a:(.*){x}", "a:(.*)1", map[string]string{"x": "1"}},
		{"a:(.*){x}", "a:bcd1", nil},
	} {
		template, err := Parse(test.template)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := template.Match(test.uri)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s matches %s: %s", test.template, test.uri, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"notes":         "scheme",
		"Notes:{x}":     "scheme",
		"notes:":        "scheme",
		"{scheme}:{x}":  "scheme",
		"notes:x":       "no variable",
		"notes:{x}{y}":  "where it begins",
		"notes:{x}/{x}": "twice",
		"notes:{+x}":    "plain variable",
		"notes:{x*}":    "plain variable",
		"notes:{x,y}":   "plain variable",
		"notes:{}":      "plain variable",
		"notes:{x":      "cannot have",
		"notes:x}/{y}":  "cannot have",
		"notes: {x}":    "cannot have",
		"notes:%zz{x}":  "cannot have",
		"notes:\n{x}":   "scheme",
		"notes:a\n{x}":  "cannot have",
		"notes:é{x}":    "cannot have",
		"notes:{x}" + strings.Repeat("y", maxLength): "longer",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// A value that was put in comes out again.
func FuzzMatch(f *testing.F) {
	f.Add("weather://{city}/{day}", "New York", "a/b")
	f.Add("a:{x}-{y}", "ü", "%")
	f.Fuzz(func(t *testing.T, text, first, second string) {
		template, err := Parse(text)
		if err != nil {
			return
		}
		if len(template.Names()) > 1 { // their values could be shared out in several ways
			template.Match(first)
			return
		}
		name := template.Names()[0]
		uri := strings.Replace(text, "{"+name+"}", url.PathEscape(first), 1)
		got, ok := template.Match(uri)
		if first != "" && strings.ToValidUTF8(first, "") == first && (!ok || got[name] != first) {
			t.Errorf("%s of %q: %v, %t", uri, first, got, ok)
		}
	})
}
