package egress

import (
	"strings"
	"testing"
)

func TestParseRule(t *testing.T) {
	for text, want := range map[string]string{
		"api.example.com:443":          "api.example.com:443",
		"API.Example.com.:443":         "api.example.com:443",
		"api.example.com":              "api.example.com",
		"*.example.com:8443":           "*.example.com:8443",
		"a_b.example.com":              "a_b.example.com",
		"xn--bcher-kva.example":        "xn--bcher-kva.example",
		"203.0.113.7:8443":             "203.0.113.7:8443",
		"203.0.113.7":                  "203.0.113.7",
		"[2001:db8::1]:443":            "[2001:db8::1]:443",
		"[2001:DB8:0::1]":              "[2001:db8::1]",
		"2001:db8::1":                  "[2001:db8::1]",
		"[::ffff:203.0.113.7]:443":     "203.0.113.7:443",
		"intranet:80":                  "intranet:80",
		"1.2.3.4.example.com:65535":    "1.2.3.4.example.com:65535",
		"0x7f.example.com":             "0x7f.example.com",
		strings.Repeat("a", 63) + ".b": strings.Repeat("a", 63) + ".b",
	} {
		rule, err := ParseRule(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := rule.String(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The error for a text that is no rule has the remedy.
func TestParseRuleErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "write one such as api.example.com:443",
		"https://api.example.com/v1":      `such as "api.example.com"`,
		"api.example.com/v1":              "a name and a port only",
		"user@api.example.com":            "a name and a port only",
		"api.example.com:":                "write a port after the colon",
		"api.example.com:0":               "from 1 to 65535",
		"api.example.com:65536":           "from 1 to 65535",
		"api.example.com:0443":            "from 1 to 65535",
		"api.example.com:+443":            "from 1 to 65535",
		"api.example.com:https":           "from 1 to 65535",
		"api.example.com:443:443":         "one colon",
		"*":                               "a * stands only",
		"*:443":                           "a * stands only",
		"*.com":                           "domain of its owner's",
		"api.*.com":                       "a * stands only",
		"*.*.example.com":                 "a * stands only",
		"a*.example.com":                  "a * stands only",
		"*.10.0.0.1":                      "four numbers",
		"bücher.example":                  "xn--",
		"api example.com":                 "letters, digits, dots",
		"api.example.com\n":               "letters, digits, dots",
		"api..example.com":                "1 to 63 characters",
		".example.com":                    "1 to 63 characters",
		"-a.example.com":                  "no hyphen first",
		strings.Repeat("a", 64) + ".com":  "1 to 63 characters",
		strings.Repeat("a.", 127) + "com": "1 to 253 characters",
		"127.1":                           "four numbers",
		"2130706433":                      "four numbers",
		"0177.0.0.1":                      "four numbers",
		"0x7f000001":                      "four numbers",
		"[fe80::1%eth0]:80":               "without its zone",
		"[2001:db8::1":                    "brackets are for",
		"[api.example.com]:443":           "brackets are for",
		"[203.0.113.7]:443":               "brackets are for",
		"[2001:db8::1]443":                "after a colon",
		"[2001:db8::1]:":                  "after a colon",
	} {
		rule, err := ParseRule(text)
		if err == nil {
			t.Errorf("%q is read as %q", text, rule)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q in it", text, err, want)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, test := range []struct {
		rule, host string
		want       bool
	}{
		{"api.example.com:443", "api.example.com:443", true},
		{"api.example.com:443", "API.example.com.:443", true},
		{"api.example.com:443", "api.example.com:80", false},
		{"api.example.com:443", "api.example.com", false},
		{"api.example.com:443", "x.api.example.com:443", false},
		{"api.example.com:443", "example.com:443", false},
		{"api.example.com", "api.example.com", true},
		{"api.example.com", "api.example.com:80", true},
		{"api.example.com", "api.example.com:443", true},
		{"api.example.com", "api.example.com:22", false},
		{"*.example.com:443", "api.example.com:443", true},
		{"*.example.com:443", "a.b.example.com:443", true},
		{"*.example.com:443", "*.example.com:443", true},
		{"*.example.com:443", "*.b.example.com:443", true},
		{"*.b.example.com:443", "*.example.com:443", false},
		{"*.example.com:443", "example.com:443", false},
		{"*.example.com:443", "badexample.com:443", false},
		{"example.com:443", "*.example.com:443", false},
		{"203.0.113.7:443", "203.0.113.7:443", true},
		{"203.0.113.7:443", "[::ffff:203.0.113.7]:443", true},
		{"203.0.113.7:443", "203.0.113.8:443", false},
		{"[2001:db8::1]:443", "[2001:db8:0:0::1]:443", true},
		{"*.example.com:443", "203.0.113.7:443", false},
	} {
		if got := mustParse(t, test.rule).Covers(mustParse(t, test.host)); got != test.want {
			t.Errorf("%s covers %s: %v, want %v", test.rule, test.host, got, test.want)
		}
	}
	if (Rule{}).Covers(Rule{}) {
		t.Error("the zero rule names something")
	}
}

func mustParse(t *testing.T, text string) Rule {
	t.Helper()
	rule, err := ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// A rule is read again as it is written, means the same, and has no character
// that could mean something to a header or a log.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{"api.example.com:443", "*.example.com", "203.0.113.7:1", "[2001:db8::1]:443", "::1", "a:b:c", "[::ffff:1.2.3.4]", "*.", "1e3.x:080"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := ParseRule(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n\x00\x1b") {
				t.Errorf("%q: the error has control characters: %q", text, err)
			}
			return
		}
		written := rule.String()
		again, err := ParseRule(written)
		if err != nil || again != rule {
			t.Errorf("%q is written as %q, which is read as %q, %v", text, written, again, err)
		}
		if !rule.Covers(rule) {
			t.Errorf("%q does not cover itself", written)
		}
		if strings.Trim(written, "abcdefghijklmnopqrstuvwxyz0123456789-_.:[]*") != "" {
			t.Errorf("%q is written as %q", text, written)
		}
	})
}
