package audit

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const secret = `s3cr3t/Token+"x y"`

// A secret is found as it is, and in each encoding, wherever it is in a text.
func TestSecretsInTexts(t *testing.T) {
	escaped, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{
		"plain": "Bearer " + secret + "!", "alone": secret, "twice": secret + secret,
		"query": "https://h/?t=" + url.QueryEscape(secret) + "&u=1", "path": url.PathEscape(secret), "lower case": strings.ToLower(url.QueryEscape("s3cr3t/")) + "Token%2b%22x y%22",
		"every byte": percent(secret), "query in a query": url.QueryEscape(url.QueryEscape(secret)),
		"json": `{"token":` + string(escaped) + `}`, "hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	for _, before := range []string{"", "u", "us", "user:"} {
		for _, after := range []string{"", "!", "!!"} {
			texts["base64 "+before+after] = base64.StdEncoding.EncodeToString([]byte(before + secret + after))
			texts["base64url "+before+after] = base64.URLEncoding.EncodeToString([]byte(before + secret + after))
		}
	}
	r := NewRedactor("", secret)
	for name, text := range texts {
		got := r.Text(text)
		if !strings.Contains(got, Redacted) || strings.Contains(got, "Token") {
			t.Errorf("%s: %s became %s", name, text, got)
		}
		decoded, _ := base64.StdEncoding.DecodeString(strings.ReplaceAll(got, Redacted, ""))
		if strings.Contains(string(decoded), "Token") {
			t.Errorf("%s: %s is left", name, decoded)
		}
	}
	for _, text := range []string{"", "s3cr3t", "nothing", "100 %", "%zz", "%"} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// percent encodes each byte.
func percent(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		b.WriteString("%" + hex.EncodeToString([]byte{c}))
	}
	return b.String()
}

// A secret is found in every part of a value, and where it is split over several.
func TestSecretsInValues(t *testing.T) {
	r := NewRedactor("abcdefgh", "12345678", "7")
	for _, test := range []struct{ value, want any }{
		{nil, nil},
		{true, true},
		{"x", "x"},
		{[]any{"abc", "def", "gh", "ij"}, Redacted},
		{map[string]any{"a": "xabcd", "b": "y"}, map[string]any{"a": "xabcd", "b": "y"}},
		{[]any{map[string]any{"deep": []any{"-abcd"}}, "efgh-"}, Redacted},
		{map[string]any{"abcdefgh": 1.0}, map[string]any{Redacted: 1.0}},
		{map[string]any{"pin": 12345678.0, "n": 5.0}, map[string]any{"pin": Redacted, "n": 5.0}},
		{json.Number("12345678"), Redacted},
		{[]any{"7", "77", 7.0}, []any{Redacted, "77", Redacted}}, // too short to be looked for in others
	} {
		if diff := cmp.Diff(test.want, r.Value(test.value)); diff != "" {
			t.Errorf("%v: %s", test.value, diff)
		}
	}
}

// FuzzRedact: no secret that was put into a text is left, and the rest is.
func FuzzRedact(f *testing.F) {
	f.Add("before", "secret", "after")
	f.Add("%73%", "%%25", "%41")
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		if len(secret) < minPart || strings.Contains(Redacted, secret) {
			t.Skip()
		}
		r := NewRedactor(secret)
		got := r.Text(before + secret + after)
		rest := strings.Split(got, Redacted)
		for _, part := range rest {
			if strings.Contains(part, secret) {
				t.Errorf("%q is left in %q", secret, got)
			}
		}
	})
}
