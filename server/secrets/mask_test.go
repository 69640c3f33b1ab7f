package secrets

import (
	"regexp"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox/redact"
)

const netrc = "machine api.example.com login me password pass-word99\nmachine b.example.com login you password 0123456789\n"

func TestMask(t *testing.T) {
	for _, test := range []struct {
		value, pattern string
		want           string // of the text, or the error
		secrets        int
	}{
		{token, "", `^ghp_\d{10}[a-z]{10}[A-Z]{10}\d{6}$`, 1},
		{netrc, `password (\S+)`, `^machine api.example.com login me password [a-z]{4}-[a-z]{4}\d\d\nmachine b.example.com login you password \d{10}\n$`, 2},
		{"host: a\ntoken: ghp_0123456789abcdef\n", `(?m)^token: (\S+)$`, `^host: a\ntoken: ghp_\d{10}[a-f]{6}\n$`, 1},
		{"postgres://user:s3cret-pass@db.example/x", `://[^:]+:([^@]+)@`, `^postgres://user:[a-z]\d[a-z]{4}-[a-z]{4}@db.example/x$`, 1},
		{`{"id": "a", "key": "abcdefgh1"}`, `"key": "([^"]+)"`, `^\{"id": "a", "key": "[a-z]{8}\d"\}$`, 1},
		{"a=abcdefgh1 b=abcdefgh1", `[ab]=(\w+)`, `^a=[a-z]{8}\d b=[a-z]{8}\d$`, 1},

		{netrc, `passwort (\S+)`, "match 1 to 32 times", 0},
		{strings.Repeat("k=abcdefgh1 ", 33), `k=(\w+)`, "match 1 to 32 times", 0},
		{netrc, `login (\S+)`, "less than 8 bytes", 0},
		{netrc, `password(\S*)`, "less than 8 bytes", 0},
		{netrc, `login(?: you password (\S+))?`, "less than 8 bytes", 0},
		{netrc, `password \S+`, "with one group", 0},
		{netrc, `(login) (\S+)`, "with one group", 0},
		{netrc, `password (\S+`, "is no regular expression (RE2)", 0},
		{netrc, `(?=password) (\S+)`, "is no regular expression (RE2)", 0},
		{netrc, "", "line breaks or tabs", 0},
		{netrc, `(?s)password (.*)`, "line breaks or tabs", 0},
		{"a=abcdefgh1\n# was abcdefgh1\n", `a=(\w+)`, "is also elsewhere in the value", 0},
		{"user:abcdefgh1\nauth: dXNlcjphYmNkZWZnaDE=\n", `user:(\w+)`, "is also elsewhere in the value", 0},
		{"key=--------++++", `key=(\S+)`, "too few letters and digits", 0},
	} {
		text, sentinels, err := Mask(test.value, test.pattern)
		switch {
		case err == nil && (test.secrets == 0 || !regexp.MustCompile(test.want).MatchString(text) || len(sentinels) != test.secrets):
			t.Errorf("%q of %q is %q, with %d secrets", test.pattern, test.value, text, len(sentinels))
		case err != nil && (test.secrets > 0 || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%q of %q: %v", test.pattern, test.value, err)
		case err != nil && (strings.Contains(err.Error(), "0123456789") || strings.Contains(err.Error(), "abcdefgh1")):
			t.Errorf("the error shows the value: %v", err)
		}
	}
}

// A text that is masked has no secret, in any spelling, and is the value once the sentinels
// are exchanged.
func FuzzMask(f *testing.F) {
	for _, pattern := range []string{"", `password (\S+)`, `:([^@]+)@`, `(.{8})`, `(?:a|(b+))`} {
		f.Add(netrc, pattern)
		f.Add("a://b:0123456789abcdefghijklmnopqrst@c bbbbbbbbbb a", pattern)
	}
	f.Fuzz(func(t *testing.T, value, pattern string) {
		text, sentinels, err := Mask(value, pattern)
		if err != nil {
			return
		}
		back, longest := map[string]string{}, 0
		for secret, sentinel := range sentinels {
			if len(secret) != len(sentinel) || len(secret) < minValue {
				t.Errorf("%q is masked by %q", secret, sentinel)
			}
			back[sentinel] = secret
			longest = max(longest, len(secret))
		}
		if len(back) > 1 || longest < 24 { // a short sentinel may be found elsewhere by chance
			return
		}
		if redact.New(sentinels).String(text) != text {
			t.Errorf("%q of %q has the secret: %q", pattern, value, text)
		}
		if redact.New(back).String(text) != value {
			t.Errorf("%q of %q is %q, with %q", pattern, value, text, sentinels)
		}
	})
}
