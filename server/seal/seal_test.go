package seal

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A MAC is valid for its list of texts alone, in every process with the file.
func TestKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "key")
	mac, err := New(file, nil).Sum("a", "bc")
	if err != nil {
		t.Fatal(err)
	}
	k := New(file, nil)
	if !k.Valid(mac, "a", "bc") || k.Valid(mac, "ab", "c") || k.Valid(mac, "abc") || k.Valid(nil, "a", "bc") {
		t.Error("the wrong texts are valid")
	}
	if New(filepath.Join(t.TempDir(), "key"), nil).Valid(mac, "a", "bc") {
		t.Error("valid with another key")
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(file, nil).Sum("a"); err == nil && runtime.GOOS != "windows" {
		t.Error("a key that others can read was used")
	}
}

// Servers that share a database agree on one key, and what one withdraws counts in none.
func TestShared(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skills-mcp.db")
	keys := make([]*Key, 4)
	for i := range keys {
		s := store.New(file, nil)
		t.Cleanup(func() { _ = s.Close() })
		keys[i] = NewShared(s, nil)
	}
	macs := make([][]byte, len(keys))
	var all sync.WaitGroup
	for i, k := range keys {
		all.Go(func() {
			var err error
			if macs[i], err = k.Sum("a"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	who := []string{Person}
	first, err1 := keys[0].Sign(t.Context(), who, "a")
	second, err2 := keys[1].Sign(t.Context(), who, "a")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for i, k := range keys {
		if !k.Valid(macs[0], "a") || !k.Signed(who, first, "a") || !k.Signed(who, second, "a") {
			t.Errorf("server %d does not accept what another one decided", i)
		}
	}
	for range 2 { // by two servers
		if err := keys[2].Withdraw(first, time.Time{}); err != nil {
			t.Fatal(err)
		}
		keys[2] = keys[3]
	}
	for i, k := range keys {
		if k.Signed(who, first, "a") || !k.Signed(who, second, "a") {
			t.Errorf("server %d does not know what was withdrawn", i)
		}
	}
}

// Programs that start at once agree on one key.
func TestGenerate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	var all sync.WaitGroup
	macs := make([]string, 8)
	for i := range macs {
		all.Go(func() {
			mac, err := New(file, nil).Sum("x")
			if err != nil {
				t.Error(err)
			}
			macs[i] = string(mac)
		})
	}
	all.Wait()
	for _, mac := range macs {
		if mac != macs[0] {
			t.Error("two keys")
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".key-*")); left != nil {
		t.Errorf("left %s", left)
	}
}
