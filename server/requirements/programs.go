package requirements

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
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
	// maxPrograms is how many programs of an image are known.
	maxPrograms = 50_000
	// maxKept is the largest file of programs that is read, in bytes.
	maxKept = 4 << 20
	// listTime is how long the listing may take.
	listTime = 20 * time.Second
)

// programs returns the programs of sandboxes: those that were kept, or those that
// a run in one finds, which are then kept.
func (g *Gate) programs(ctx context.Context, runner *sandbox.Runner, role string, base sandbox.Base) (map[string]bool, error) {
	if kept, ok := g.kept(base); ok {
		return kept, nil
	}
	found, err := g.run(ctx, runner, role)
	if err != nil {
		return nil, fmt.Errorf("list the programs of %s: %w", base.Name, err)
	}
	if err := g.keep(base, found); err != nil {
		g.options.Logger.Warn("the programs of an image are looked up again at the next start", "image", base.Name, "error", err)
	}
	return found, nil
}

// run lists the programs in a sandbox that sees nothing of anybody.
func (g *Gate) run(ctx context.Context, runner *sandbox.Runner, role string) (map[string]bool, error) {
	folder, err := g.folder()
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
	found := map[string]bool{}
	for line := range strings.Lines(string(result.Stdout.Bytes())) {
		if name := strings.TrimSuffix(line, "\n"); name != "" {
			found[name] = true
		}
	}
	if len(found) == 0 || len(found) > maxPrograms {
		return nil, fmt.Errorf("it has found %d, which cannot be", len(found))
	}
	return found, nil
}

// folder makes the empty folder that a sandbox sees as its skill's.
func (g *Gate) folder() (string, error) {
	if g.options.Dir != "" {
		if err := os.MkdirAll(g.options.Dir, 0o755); err != nil {
			return "", err
		}
	}
	folder, err := os.MkdirTemp(g.options.Dir, "empty-")
	if err != nil {
		return "", err
	}
	return folder, os.Chmod(folder, 0o755) // for a sandbox's user
}

// file is where the programs of sandboxes are kept.
func (g *Gate) file(base sandbox.Base) string {
	sum := sha256.Sum256([]byte(base.ID))
	return filepath.Join(g.options.Dir, hex.EncodeToString(sum[:16])+".json")
}

// kept returns what was found before. A file that cannot be read is as good as
// none.
func (g *Gate) kept(base sandbox.Base) (programs map[string]bool, ok bool) {
	if g.options.Dir == "" {
		return nil, false
	}
	info, err := os.Stat(g.file(base))
	if err != nil || info.Size() > maxKept || !info.Mode().IsRegular() {
		return nil, false
	}
	data, err := os.ReadFile(g.file(base))
	if err != nil {
		return nil, false
	}
	var names []string
	if err := json.Unmarshal(data, &names); err != nil || len(names) == 0 {
		return nil, false
	}
	programs = make(map[string]bool, len(names))
	for _, name := range names {
		programs[name] = true
	}
	return programs, true
}

// keep writes what was found, as a whole or not at all.
func (g *Gate) keep(base sandbox.Base, programs map[string]bool) error {
	if g.options.Dir == "" {
		return nil
	}
	data, err := json.Marshal(slices.Sorted(maps.Keys(programs)))
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(g.file(base), data)
}
