package plugins

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// maxData bounds a data folder, in bytes.
const maxData = 256 << 20

// checkData returns an error for a data folder that is too large; "" is none.
func checkData(dir string) error {
	if dir == "" {
		return nil
	}
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return nil // it has gone meanwhile, or is closed
		}
		size += 4 << 10
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		if size > maxData {
			return filepath.SkipAll
		}
		return nil
	})
	if err == nil && size > maxData {
		return &sandbox.UnavailableError{Reason: fmt.Sprintf("its data folder has more than %s", sandbox.Bytes(maxData)), Remedy: "remove files from " + dir}
	}
	return nil
}
