package requirements

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// list prints the names of the programs on the PATH of any shell there is.
const list = `IFS=:
for dir in $PATH; do
	cd "$dir" 2>/dev/null || continue
	for file in *; do
		[ -f "$file" ] && [ -x "$file" ] && printf '%s\n' "$file"
	done
done
exit 0`

const (
	// maxPrograms bounds the programs of an image.
	maxPrograms = 50_000
	// maxCached is the largest cache file that is read, in bytes.
	maxCached = 4 << 20
	// listTime bounds the time of the listing.
	listTime = 20 * time.Second
)

// A programLister lists the programs of images, with a cache in a folder.
type programLister struct {
	dir    string // "" disables the cache
	logger *slog.Logger
}

// of returns the programs of a role's sandboxes, from the cache or by a run in one,
// which fills the cache.
func (l *programLister) of(ctx context.Context, runner *sandbox.Runner, role string, base sandbox.Base) ([]string, error) {
	if cached := l.load(base); len(cached) > 0 {
		return cached, nil
	}
	found, err := l.run(ctx, runner, role)
	if err != nil {
		return nil, fmt.Errorf("list the programs of %s: %w", base.Name, err)
	}
	if err := l.save(base, found); err != nil {
		l.logger.Warn("the programs of an image are looked up again at the next start", "image", base.Name, "error", err)
	}
	return found, nil
}

// run lists the programs in a sandbox without a workspace and with an empty folder.
func (l *programLister) run(ctx context.Context, runner *sandbox.Runner, role string) ([]string, error) {
	folder, err := l.folder()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	result, err := runner.Run(ctx, sandbox.Command{
		RunID: "programs-" + strings.ToLower(rand.Text()[:12]), Skill: "programs",
		Argv: []string{"sh", "-c", list}, Folder: folder, Role: role, Warm: -1,
		Limits: sandbox.Limits{Timeout: listTime},
	})
	if err != nil {
		return nil, err
	}
	if result.Code != 0 {
		return nil, fmt.Errorf("the shell has failed with exit code %d", result.Code)
	}
	found := strings.FieldsFunc(string(result.Stdout.Bytes()), func(r rune) bool { return r == '\n' })
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 0 || len(found) > maxPrograms {
		return nil, fmt.Errorf("it has found %d, which cannot be", len(found))
	}
	return found, nil
}

// folder creates the empty folder that is mounted as the skill's.
func (l *programLister) folder() (string, error) {
	if l.dir != "" {
		if err := os.MkdirAll(l.dir, 0o755); err != nil {
			return "", err
		}
	}
	folder, err := os.MkdirTemp(l.dir, "empty-")
	if err != nil {
		return "", err
	}
	return folder, os.Chmod(folder, 0o755) // for a sandbox's user
}

// file returns the path of the cached programs of an image.
func (l *programLister) file(base sandbox.Base) string {
	sum := sha256.Sum256([]byte(base.ID))
	return filepath.Join(l.dir, hex.EncodeToString(sum[:16])+".json")
}

// load returns the cached programs, or none if the file cannot be read.
func (l *programLister) load(base sandbox.Base) (programs []string) {
	if l.dir == "" {
		return nil
	}
	info, err := os.Stat(l.file(base))
	if err != nil || info.Size() > maxCached || !info.Mode().IsRegular() {
		return nil
	}
	data, err := os.ReadFile(l.file(base))
	if err != nil || json.Unmarshal(data, &programs) != nil {
		return nil
	}
	return programs
}

// save writes the cache atomically.
func (l *programLister) save(base sandbox.Base, programs []string) error {
	if l.dir == "" {
		return nil
	}
	data, err := json.Marshal(programs)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(l.file(base), data)
}
