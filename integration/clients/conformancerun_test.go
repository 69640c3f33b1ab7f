package clients

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

// announced reads what the suite prints, and returns the names of the scenarios
// that it began. While one of them looks for notices of changes, a skill in the
// folder changing comes and goes: no skill that a client may call can change the
// list of skills, so what the suite calls for it to happen is not there.
func announced(t *testing.T, out io.Reader, changing string) []string {
	began := regexp.MustCompile(`^Running client scenario '(.+)' against server`)
	var scenarios []string
	stop := func() {}
	defer func() { stop() }()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		found := began.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		stop()
		stop = func() {}
		scenarios = append(scenarios, found[1])
		if found[1] == "server-stateless" {
			stop = comeAndGo(t, filepath.Join(changing, "changing"))
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	return scenarios
}

// comeAndGo adds a skill and removes it again, over and over, until stop is
// called: often enough that every second has a change, and not so often that
// changes are one.
func comeAndGo(t *testing.T, folder string) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(300 * time.Millisecond)
		defer tick.Stop()
		for there := false; ; there = !there {
			if err := put(folder, !there); err != nil {
				t.Error(err)
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(done); ended.Wait() })
}

// put makes the folder a skill's, or removes it.
func put(folder string, there bool) error {
	if !there {
		return os.RemoveAll(folder)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "SKILL.md"), []byte("---\nname: changing\ndescription: Comes and goes.\n---\nDo nothing.\n"), 0o644)
}
