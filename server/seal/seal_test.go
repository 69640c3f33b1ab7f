package seal

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"
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
