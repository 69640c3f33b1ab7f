package skillfs

import "path/filepath"

// Resolved returns a path without links, as far as it can be followed.
func Resolved(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(Resolved(dir), filepath.Base(path))
	}
	return path
}
