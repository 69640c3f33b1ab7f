package scan

import (
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// readings records the files that skills were read from, as they were then.
type readings struct{ byFile sync.Map } // host path: reading

// A reading is a file as it was read.
type reading struct {
	stamp   stamp.Stamp // zero where there was nothing
	sum     uint64      // of the content; 0 where that is not known
	settled bool        // another change has another stamp
}

// look returns the current state of a file, without the sum of its content.
func look(file string) reading {
	info, err := os.Stat(file) // follows links
	if err != nil {
		return reading{settled: true}
	}
	s := stamp.Of(info)
	return reading{stamp: s, settled: s.Settled(time.Now())}
}

// changed reports whether a file is not as it was read. Of a file that was not
// read nothing was there.
func (r *readings) changed(file string) bool {
	known, ok := r.byFile.Load(file)
	now := look(file)
	if !ok {
		return now.stamp != stamp.Stamp{}
	}
	before := known.(reading)
	if before.stamp != now.stamp {
		return true
	}
	if before.settled {
		return false
	}
	// It was written so lately that its time says nothing.
	if before.sum == 0 || sumOf(file) != before.sum {
		return true
	}
	r.byFile.Store(file, reading{now.stamp, before.sum, now.settled})
	return false
}

// sumOf returns the sum of a file's content, or 0.
func sumOf(name string) uint64 {
	data, err := skillfs.ReadHost(name, manifest.MaxSize)
	if err != nil {
		return 0
	}
	return sum(data)
}

// sum returns a hash of a content, for this process.
func sum(data []byte) uint64 { return maphash.Bytes(seed(), data) }

var seed = sync.OnceValue(maphash.MakeSeed)

func manifestsOf(dir, file string) []string {
	if strings.EqualFold(filepath.Base(file), "SKILL.md") {
		return []string{file, filepath.Join(dir, manifest.ToolsFile)}
	}
	return []string{file}
}
