//go:build !linux && !darwin

package stamp

import "io/fs"

// Of returns the stamp of a file from its info.
func Of(info fs.FileInfo) Stamp { return portable(info) }
