package manifest

import (
	"errors"
	"io/fs"
	"path"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// readFile reads a manifest of at most limit bytes.
func ReadFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	data, err := skillfs.ReadRegular(fsys, name, limit)
	if errors.Is(err, skillfs.ErrTooLarge) {
		return nil, Errorf(Position{}, "move what is long into files beside it", "%s is larger than %d KiB", path.Base(name), limit>>10)
	}
	return data, err
}
