package adopt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/collation"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A recorded is a hash that a tool has recorded of a folder.
type recorded struct {
	name string // for Checked
	hash string
	sum  func(ctx context.Context, files skillfs.Dir, states map[string]lock.FileState) (string, error)
}

// folderHash is the computedHash of the skills tool.
func folderHash(ctx context.Context, files skillfs.Dir, _ map[string]lock.FileState) (string, error) {
	return lock.NPMHash(ctx, files)
}

// fingerprint is that of ClawHub: SHA-256 over the lines path:sha256 of each file outside
// of hidden folders, in the order of localeCompare.
func fingerprint(_ context.Context, _ skillfs.Dir, states map[string]lock.FileState) (string, error) {
	var lines []string
	for _, name := range regular(states) {
		if !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return part == "node_modules" || strings.HasPrefix(part, ".") }) {
			lines = append(lines, name+":"+strings.TrimPrefix(states[name].Digest, "sha256:"))
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:]), nil
}

// regular returns the files that are no links, in the order of localeCompare.
func regular(states map[string]lock.FileState) []string {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(states)), func(name string) bool { return states[name].Digest == "" })
	slices.SortFunc(names, collation.Compare)
	return names
}
