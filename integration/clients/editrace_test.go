package clients

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/skills/snapshot/edittest"
)

var editRaceCalls = flag.Int("edit-race", 300, "the number of calls that TestEditRace makes")

// raceScript is a skill that prints the hashes of its own files. The script is one of
// them.
const raceScript = "#!/bin/bash\nexec sha256sum run.sh data/a data/b data/c\n"

// TestEditRace calls a skill through the server while this process edits it in every
// way: each output has to be of one whole version, and none may be older than the last
// that ended 200 ms before the call.
func TestEditRace(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	r := newEditRace(t)
	c := lab.Connect(t, "native", "--skills", filepath.Dir(r.dir))
	c.Call("race", nil)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for r.left.Add(-1) >= 0 {
				r.call(c)
			}
		})
	}
	for version := 1; r.left.Load() > 0; version++ {
		if err := r.editor.Edit(version); err != nil {
			t.Error(err)
			break
		}
	}
	callers.Wait()
}

// An editRace is one run of the test.
type editRace struct {
	*testing.T
	dir    string
	files  []string
	editor *edittest.Editor
	left   atomic.Int64 // calls to make

	mu       sync.Mutex
	versions map[string]int // by hash and name of a file; guarded by mu
}

func newEditRace(t *testing.T) *editRace {
	r := &editRace{T: t, dir: filepath.Join(t.TempDir(), "race"), files: []string{"run.sh", "data/a", "data/b", "data/c"}, versions: map[string]int{}}
	r.left.Store(int64(*editRaceCalls))
	lab.WriteFile(t, filepath.Join(r.dir, "SKILL.md"), "---\nname: race\ndescription: d\nscript: run.sh\n---\nPrints hashes.\n")
	var err error
	if r.editor, err = edittest.NewEditor(r.dir, t.TempDir(), r.files, r.content); err != nil {
		t.Fatal(err)
	}
	return r
}

// content returns a file of a version, up to 20 KB, and notes its hash.
func (r *editRace) content(name string, version int) []byte {
	text := strings.Repeat(fmt.Sprintf("# %d\n", version), 1+version*577%4000)
	if name == "run.sh" {
		text = raceScript + text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.versions[fmt.Sprintf("%x  %s", sha256.Sum256([]byte(text)), name)] = version
	return []byte(text)
}

// call makes a call and checks its output.
func (r *editRace) call(c *lab.Client) {
	began := time.Now()
	least := r.editor.Least(began)
	text, _ := c.Call("race", nil)
	took := time.Since(began)
	var versions []int
	r.mu.Lock()
	for line := range strings.Lines(text) {
		for _, name := range r.files {
			if strings.HasSuffix(strings.TrimSpace(line), "  "+name) {
				versions = append(versions, r.version(strings.TrimSpace(line)))
			}
		}
	}
	r.mu.Unlock()
	// A call that has waited 5 s for the end of the edits takes the files as they are.
	if fault := r.editor.Fault(versions, least); fault != "" && took < 5*time.Second {
		r.Errorf("after %v, %s: %.500s", took, fault, text)
	}
}

// version returns the version of a file by its line of the output, or -1.
func (r *editRace) version(line string) int {
	if version, ok := r.versions[line]; ok {
		return version
	}
	return -1
}
