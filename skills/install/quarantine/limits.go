package quarantine

import (
	"cmp"
	"fmt"
)

// Limits bound a quarantine. Zero values are the defaults.
type Limits struct {
	Files int   // files, folders and links; 20,000
	File  int64 // bytes of one file; 64 MiB
	Total int64 // bytes of all files; 256 MiB
	Depth int   // folders in each other; 32
}

func (l *Limits) orDefaults() Limits {
	if l == nil {
		l = &Limits{}
	}
	return Limits{
		Files: cmp.Or(l.Files, 20_000),
		File:  cmp.Or(l.File, 64<<20),
		Total: cmp.Or(l.Total, 256<<20),
		Depth: cmp.Or(l.Depth, 32),
	}
}

// bytesText returns a number of bytes for a message.
func bytesText(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d MB", bytes>>20)
}
