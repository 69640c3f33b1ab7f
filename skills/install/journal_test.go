package install

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

var kills = flag.Int("install-kills", 20, "how many installations and updates TestKill kills")

// killVariable makes the test binary the process that is killed: it has the target's
// folder.
const killVariable = "SKILLS_MCP_TEST_INSTALL_INTO"

// packOf returns a source with three skills, of a few files each.
func packOf(version int) map[string]string {
	files := map[string]string{}
	for _, name := range []string{"alpha", "beta", "gamma"} {
		files[name+"/SKILL.md"] = skill(name, "Does "+name+".", fmt.Sprintf("version %d\n", version))
		for n := range 20 {
			files[fmt.Sprintf("%s/data/%d.txt", name, n)] = strings.Repeat(fmt.Sprintf("%s %d %d\n", name, version, n), 500)
		}
	}
	return files
}

// TestHelperInstall is the process that TestKill kills. It tells when it begins.
func TestHelperInstall(t *testing.T) {
	dir := os.Getenv(killVariable)
	if dir == "" {
		t.Skip("run by TestKill")
	}
	f := fixtureIn(t, dir)
	f.fake.set("pack", "1", packOf(1))
	r := at1("pack")
	r.All = true
	if file, err := f.Installed(); err != nil || len(file.Entries) > 0 {
		f.fake.set("pack", "2", packOf(2))
	}
	p, err := f.Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("begin")
	if err := p.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	fmt.Println("end")
}

// TestKill kills processes that install or update three skills as one, at random times:
// each folder is the old or the new version at once, the lock says which may be there, and
// after the next process has opened the target all are of one version.
func TestKill(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	duration, ended := runAndKill(t, t.TempDir(), time.Minute) // of a change
	if !ended {
		t.Fatal("it did not end by itself")
	}
	var interrupted, whole int
	for n := range *kills {
		dir := t.TempDir()
		version := 1
		if n%2 == 1 {
			f := fixtureIn(t, dir)
			f.fake.set("pack", "1", packOf(1))
			r := at1("pack")
			r.All = true
			f.commit(f.Prepare(t.Context(), r))
			version = 2
		}
		took, ended := runAndKill(t, dir, time.Duration(random.Int64N(int64(duration)*5/4)))
		if ended {
			duration = (3*duration + took) / 4
			whole++
		}
		file := checkDisk(t, dir, version)
		if pending(file) {
			interrupted++
		}
		f := fixtureIn(t, dir)
		if found, err := f.Verify(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("kill %d: %v, %v", n, found, err)
		}
		if _, err := f.Uninstall(t.Context(), "nothing"); !errors.As(err, new(*UnknownError)) { // opens the target
			t.Errorf("kill %d: %v", n, err)
		}
		f.clean()
		after := checkDisk(t, dir, version)
		if pending(after) {
			t.Errorf("kill %d: the change has not ended", n)
		}
		digests := map[string]bool{}
		for _, e := range after.Entries {
			digests[e.Revision] = true
		}
		if len(digests) > 1 || len(after.Entries) != 0 && len(after.Entries) != 3 || version == 2 && len(after.Entries) != 3 {
			t.Errorf("kill %d: not one version: %v", n, slices.Collect(maps.Keys(digests)))
		}
		if t.Failed() {
			t.Fatalf("kill %d of %s", n, dir)
		}
	}
	t.Logf("%d kills: %d in the middle of a change, %d after its end; a change takes %v", *kills, interrupted, whole, duration)
}

// runAndKill starts a helper, and kills it some time after it has begun to commit.
func runAndKill(t *testing.T, dir string, after time.Duration) (took time.Duration, ended bool) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestHelperInstall$", "-test.v")
	command.Env = append(os.Environ(), killVariable+"="+dir)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var began time.Time
	var timer *time.Timer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch lines.Text() {
		case "begin":
			began = time.Now()
			timer = time.AfterFunc(after, func() { command.Process.Kill() })
		case "end":
			took, ended = time.Since(began), true
		}
	}
	err = command.Wait()
	if timer == nil {
		t.Fatalf("it did not begin: %v", err)
	}
	timer.Stop()
	return took, ended
}

// checkDisk fails unless each folder is whole, and one of the versions that the lock
// says for it, before any recovery.
func checkDisk(t *testing.T, dir string, version int) *lock.File {
	t.Helper()
	file, err := lock.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	folders, err := os.ReadDir(filepath.Join(dir, "skills"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, folder := range folders {
		name := "skills/" + folder.Name()
		there[name] = true
		e := file.Entries[name]
		if e == nil {
			t.Errorf("%s is not in the lock", name)
			continue
		}
		found, err := lock.Files(context.Background(), skillfs.DirFS(filepath.Join(dir, filepath.FromSlash(name))))
		if err != nil {
			t.Fatal(err)
		}
		if !(e.Exists() && len(compareFiles(name, e.Files, found)) == 0) && !(e.Next != nil && len(compareFiles(name, e.Next.Files, found)) == 0) {
			t.Errorf("%s is neither of the lock's versions", name)
		}
	}
	for name, e := range file.Entries {
		if e.Exists() && e.Next == nil && !there[name] {
			t.Errorf("the lock has %s, and the disk has not", name)
		}
	}
	if version == 2 && len(there) != 3 {
		t.Errorf("an update made a skill vanish: %v", there)
	}
	return file
}
