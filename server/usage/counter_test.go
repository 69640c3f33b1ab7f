package usage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCounting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "usage.json")
	first := Open(file, nil)
	first.Used("a")
	first.Used("a")
	first.Used("p/b")
	first.Used(strings.Repeat("x", maxName+1))
	if got := first.Uses(); len(got) != 0 {
		t.Errorf("the counts changed while they are in use: %v", got)
	}
	first.Close()
	second := Open(file, nil)
	second.Used("a")
	defer second.Close()
	if diff := cmp.Diff(map[string]int{"a": 2, "p/b": 1}, second.Uses()); diff != "" {
		t.Error(diff)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 2 { // the file and its lock
		t.Errorf("%v %v", left, err)
	}
}

// Nothing is written where nothing was called.
func TestNothingCounted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.json")
	Open(file, nil).Close()
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
}

// Servers that run at the same time lose none of each other's counts.
func TestProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.json")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c := Open(file, nil)
			for range 10 {
				c.Used("a")
			}
			c.Close()
		})
	}
	all.Wait()
	if got := Read(file)["a"]; got != 40 {
		t.Errorf("%d uses, want 40", got)
	}
}

// A server that is killed loses the calls of its last moments only.
func TestWrittenMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.json")
	synctest.Test(t, func(t *testing.T) {
		c := Open(file, nil)
		defer c.Close()
		c.Used("a")
		if got := Read(file); len(got) != 0 {
			t.Errorf("it was written at once: %v", got)
		}
		time.Sleep(saveDelay + time.Millisecond)
		synctest.Wait()
		if got := Read(file)["a"]; got != 1 {
			t.Errorf("%d uses are written, want 1", got)
		}
	})
}

// Counts that cannot be written are written later.
func TestFolderInTheWay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.json")
	if err := os.MkdirAll(filepath.Join(file, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := Open(file, nil)
	c.Used("a")
	c.save()
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if got := Read(file)["a"]; got != 1 {
		t.Errorf("%d uses, want 1", got)
	}
}

func TestBadFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "list": "[]", "text": "uses", "cut": `{"skills":{"a":{"uses":1,`,
		"negative": `{"skills":{"a":{"uses":-1}}}`, "huge": `{"skills":{"a":{"uses":99999999999}}}`,
		"long name": `{"skills":{"` + strings.Repeat("x", maxName+1) + `":{"uses":1}}}`,
		"long":      `{"skills":{"a":{"uses":1}}}` + strings.Repeat(" ", maxFile),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "usage.json")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c := Open(file, nil)
			if got := c.Uses(); len(got) != 0 {
				t.Errorf("read %v", got)
			}
			c.Used("b")
			c.Close()
			if diff := cmp.Diff(map[string]int{"b": 1}, Read(file)); diff != "" {
				t.Errorf("it is not mended: %s", diff)
			}
		})
	}
}

// The names that were not used for the longest time are forgotten.
func TestBounded(t *testing.T) {
	all := map[string]entry{}
	for i := range maxNames + 10 {
		all[fmt.Sprint("skill-", i)] = entry{1, time.Unix(int64(i), 0)}
	}
	kept := merge(map[string]entry{}, all)
	if len(kept) != maxNames || kept["skill-9"].Uses != 0 || kept["skill-10"].Uses != 1 {
		t.Errorf("%d names; skill-9 %v, skill-10 %v", len(kept), kept["skill-9"], kept["skill-10"])
	}
	if got := merge(map[string]entry{"a": {maxUses, time.Unix(2, 0)}}, map[string]entry{"a": {5, time.Unix(1, 0)}})["a"]; got != (entry{maxUses, time.Unix(2, 0)}) {
		t.Errorf("%v", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"skills":{"a":{"uses":1,"last":"2026-01-02T03:04:05Z"}}}`, `{"skills":null}`, `{"skills":{"":{"uses":1073741825}}}`, "{"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		found := parse(data)
		if len(found) > maxNames {
			t.Errorf("%d names", len(found))
		}
		for name, e := range found {
			if len(name) > maxName || e.Uses < 1 || e.Uses > maxUses {
				t.Errorf("%q %v", name, e)
			}
		}
	})
}
