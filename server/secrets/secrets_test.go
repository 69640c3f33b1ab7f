package secrets

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

// A fakeKeyring is a keyring in memory; locked answers nothing.
type fakeKeyring struct {
	text   string
	locked bool
}

func (k *fakeKeyring) Get() (string, error) {
	if k.locked || k.text == "" {
		return "", errors.New("it is locked")
	}
	return k.text, nil
}

func (k *fakeKeyring) Set(text string) error {
	if k.locked {
		return errors.New("it is locked")
	}
	k.text = text
	return nil
}

func TestStore(t *testing.T) {
	ctx := t.Context()
	for name, keyring := range map[string]Keyring{"file": nil, "keyring": &fakeKeyring{}, "no keyring": &fakeKeyring{locked: true}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "secrets")
			s := New(dir, &Options{Keyring: keyring})
			if _, err := s.Value(ctx, "", "TOKEN", false); !errors.Is(err, ErrNone) || s.Has("", "TOKEN") {
				t.Fatal(err)
			}
			for owner, value := range map[string]string{"": token, "oidc/a": "another-1234"} {
				if err := s.Set(owner, "TOKEN", value); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.SetCommand("", "BY_COMMAND", "printf '%s\\n' from-a-command"); err != nil {
				t.Fatal(err)
			}
			s = New(dir, &Options{Keyring: keyring}) // another process
			for _, want := range [][3]string{{"", "TOKEN", token}, {"oidc/a", "TOKEN", "another-1234"}, {"", "BY_COMMAND", "from-a-command"}} {
				if got, err := s.Value(ctx, want[0], want[1], false); got != want[2] || err != nil {
					t.Errorf("%v is %q, %v", want, got, err)
				}
			}
			all, err := s.List()
			names := make([]string, len(all))
			for i, e := range all {
				names[i] = e.Owner + ":" + e.Name + ":" + e.Command
			}
			if want := []string{":BY_COMMAND:printf '%s\\n' from-a-command", ":TOKEN:", "oidc/a:TOKEN:"}; err != nil || !slices.Equal(names, want) {
				t.Errorf("%q, %v", names, err)
			}
			_ = filepath.WalkDir(dir, func(file string, d os.DirEntry, _ error) error {
				info, _ := d.Info()
				if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s has mode %v", file, info.Mode())
				}
				data, _ := os.ReadFile(file)
				if bytes.Contains(data, []byte(token)) || bytes.Contains(data, []byte("TOKEN")) {
					t.Errorf("%s is not sealed", file)
				}
				return nil
			})
			if err := s.Remove("", "TOKEN"); err != nil || s.Has("", "TOKEN") || !s.Has("oidc/a", "TOKEN") {
				t.Errorf("%v", err)
			}
			if err := s.Remove("", "TOKEN"); !errors.Is(err, ErrNone) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A key that cannot be had is no reason for a new one; nor does a file count for another
// secret.
func TestLostKey(t *testing.T) {
	keyring := &fakeKeyring{}
	s := New(t.TempDir(), &Options{Keyring: keyring})
	if err := s.Set("", "TOKEN", token); err != nil || s.Place() != "the system's keyring" {
		t.Fatal(err, s.Place())
	}
	if err := os.Rename(s.file("", "TOKEN"), s.file("", "OTHER")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Value(t.Context(), "", "OTHER", false); err == nil {
		t.Errorf("a file that was moved is %q", got)
	}
	keyring.locked = true
	err := s.Set("", "NEXT", token)
	if err == nil || !strings.Contains(err.Error(), "unlock the system's keyring") {
		t.Errorf("%v", err)
	}
}

// A damaged file, and one that was swapped, hide no other secret, and the error of a value
// has no path.
func TestDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	s := New(dir, nil)
	for _, name := range []string{"A", "B", "C"} {
		if err := s.Set("", name, token); err != nil {
			t.Fatal(err)
		}
	}
	moved, _ := os.ReadFile(s.file("", "A"))
	if err := errors.Join(os.WriteFile(s.file("", "B"), moved, 0o600), os.WriteFile(s.file("", "C"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	all, err := s.List()
	got := map[string]int{}
	for _, e := range all {
		got[e.Name+e.Damaged]++
	}
	if err != nil || len(all) != 3 || got["A"] != 1 || got["(unknown)"+s.file("", "B")] != 1 || got["(unknown)"+s.file("", "C")] != 1 {
		t.Errorf("%v, %v", got, err)
	}
	for _, name := range []string{"B", "C"} {
		if _, err := s.Value(t.Context(), "", name, false); err == nil || strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "remove …/secrets/") {
			t.Errorf("%v", err)
		}
	}
}

// A slowKeyring takes a moment to read and to write.
type slowKeyring struct {
	mu sync.Mutex // guards the keyring
	fakeKeyring
}

func (k *slowKeyring) Get() (string, error) {
	time.Sleep(10 * time.Millisecond)
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fakeKeyring.Get()
}

func (k *slowKeyring) Set(text string) error {
	time.Sleep(10 * time.Millisecond)
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fakeKeyring.Set(text)
}

// Of processes that set their first secret at once, one makes the key.
func TestFirstAtOnce(t *testing.T) {
	dir, names, keyring := t.TempDir(), []string{"A", "B", "C", "D"}, &slowKeyring{}
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			if err := New(dir, &Options{Keyring: keyring}).Set("", name, token); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, name := range names {
		if got, err := New(dir, &Options{Keyring: keyring}).Value(t.Context(), "", name, false); got != token {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadableKey(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there, files have no such modes")
	}
	s := New(t.TempDir(), nil)
	if err := s.Set("", "TOKEN", token); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.keys.keyFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Value(t.Context(), "", "TOKEN", false); err == nil || !strings.Contains(err.Error(), "other users can read") {
		t.Errorf("%v", err)
	}
}

func TestCheck(t *testing.T) {
	for value, want := range map[string]string{
		"short":                         "has 5 bytes",
		strings.Repeat("x", maxValue+1): "more than 64 KiB",
		"two lines\nof text":            "",
		" \t\n  \u00a0   ":              "nothing but blanks",
		"tab\tor so":                    "",
		"an escape \x1b[":               "control characters",
		"no UTF-8 \xff":                 "control characters",
		token:                           "",
		strings.Repeat("x", maxValue):   "",
		"pässwörter sind auch Werte":    "",
		"12345678":                      "",
	} {
		if err := Check(value); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", value, err)
		}
	}
	for _, name := range []string{"", "1A", "A-B", "A B", strings.Repeat("A", 65)} {
		if New(t.TempDir(), nil).Set("", name, token) == nil {
			t.Errorf("%q is a name", name)
		}
	}
}

// Commands are bounded, and their errors have nothing that they print.
func TestCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("for a shell of Unix")
	}
	s := New(t.TempDir(), nil)
	for command, want := range map[string]string{
		"echo secret-text; exit 3":             "exit status 3",
		"echo secret-text >&2; false":          "exit status 1",
		"head -c 70000 /dev/zero | tr '\\0' x": "more than 64 KiB",
		"echo short":                           "has 5 bytes",
		"printf 'secret-text\\033more\\n'":     "control characters",
	} {
		if err := s.SetCommand("", "A", command); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Value(t.Context(), "", "A", false); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-text") {
			t.Errorf("%s: %v", command, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Value(ctx, "", "A", false); err == nil {
		t.Error("a call that was cancelled runs it")
	}
}

func TestOwner(t *testing.T) {
	if a, b := Owner(identity.Principal{Kind: identity.Person}), Owner(identity.Principal{Kind: identity.Model, Session: "s"}); a != "" || b != "" {
		t.Errorf("%q %q", a, b)
	}
	if got := Owner(identity.Principal{Kind: identity.Subject, ID: "issuer|me", Session: "s"}); got != "oidc/issuer|me" {
		t.Errorf("%q", got)
	}
}

// A sentinel has the shape of its value, and nothing else of it.
func TestSentinel(t *testing.T) {
	for value, shape := range map[string]string{
		token: `^ghp_\d{10}[a-z]{10}[A-Z]{10}\d{6}$`,
		"github_pat_11AAAAAAA0abcdefgh_0123456789abcdefghij": `^github_pat_\d\d[A-Z]{7}\d[a-z]{8}_\d{10}[a-z]{10}$`,
		"sk-ant-api03-abcdefghijklmnopqrst":                  `^sk-ant-[a-z]{3}\d\d-[a-z]{20}$`,
		"sk-abcdefghijklmnopqrstuvwx":                        `^sk-[a-z]{24}$`,
		"xoxb-123456789012-abcdefghijkl":                     `^xoxb-\d{12}-[a-z]{12}$`,
		"glpat-abcdefghij0123456789":                         `^glpat-[a-z]{10}\d{10}$`,
		"AKIAIOSFODNN7EXAMPLE":                               `^AKIA[A-Z]{8}\d[A-Z]{7}$`,
		"0123456789abcdef0123456789abcdef":                   `^\d{10}[a-f]{6}\d{10}[a-f]{6}$`,
		"550e8400-e29b-41d4-a716-446655440000":               `^\d{3}[a-f]\d{4}-[a-f]\d\d[a-f]-\d\d[a-f]\d-[a-f]\d{3}-\d{12}$`,
		"p@ss/Word=1234+xyz":                                 `^[a-z]@[a-z]{2}/[A-Z][a-z]{3}=\d{4}\+[a-z]{3}$`,
		"my-secret9":                                         `^[a-z]{2}-[a-z]{6}\d$`,
	} {
		first, err := Sentinel(value)
		second, _ := Sentinel(value)
		if err != nil || !regexp.MustCompile(shape).MatchString(first) || first == value || first == second {
			t.Errorf("%s: %q and %q, %v", value, first, second, err)
		}
	}
	if got, err := Sentinel("aB3xY_Qz4-wK" + token); err != nil || strings.HasPrefix(got, "aB3xY_") {
		t.Errorf("the beginning of a random value is kept: %q, %v", got, err)
	}
	if got, err := Sentinel("---===---===äöü"); err == nil {
		t.Errorf("a value without letters is %q", got)
	}
}

func TestSentinelOfJWT(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	header := `{"alg":"RS256","typ":"JWT","kid":"key-1"}`
	claims := `{"iss":"https://issuer.example/","sub" : "jane doe","a\"b":"say \"hi\" to \u00e4nne","exp":1900000000,"roles":["admin","9lives"],"ok":true}`
	value := encode([]byte(header)) + "." + encode([]byte(claims)) + "." + encode(bytes.Repeat([]byte{7}, 32))
	got, err := Sentinel(value)
	parts := strings.Split(got, ".")
	if err != nil || len(got) != len(value) || len(parts) != 3 || parts[0] != encode([]byte(header)) || parts[2] == strings.Split(value, ".")[2] {
		t.Fatal(got, err)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	var made map[string]any
	if err != nil || len(text) != len(claims) || json.Unmarshal(text, &made) != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if made["exp"] != 1.9e9 || made["ok"] != true || len(made) != 6 || made["a\"b"] == nil {
		t.Errorf("%s", text)
	}
	for _, word := range []string{"issuer", "jane", "admin", "lives", "nne"} {
		if strings.Contains(string(text), word) {
			t.Errorf("%s has %s", text, word)
		}
	}
}

func FuzzSentinel(f *testing.F) {
	f.Add(token)
	f.Add(`eyJhbGciOiJIUzI1NiJ9.eyJhIjoiXHUwMGU0In0.AAAAAAAAAAAAAAAA`)
	f.Fuzz(func(t *testing.T, value string) {
		got, err := Sentinel(value)
		if err == nil && (len(got) != len(value) || got == value) {
			t.Errorf("%q: %q", value, got)
		}
	})
}
