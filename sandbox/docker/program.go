package docker

import (
	"slices"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// programs remembers what programs images have. An image's id is that of its
// content, so what was found once stays there.
type programs struct{ known sync.Map } // of programOf, to nothing

type programOf struct{ image, program string }

// has reports whether the program of cmd is known to be in its image.
func (p *programs) has(image *image, cmd *sandbox.Command) bool {
	_, known := p.known.Load(programOf{image.id, cmd.Argv[0]})
	return known && !setsPath(cmd)
}

// add notes that a command has begun, and so has its program.
func (p *programs) add(image *image, cmd *sandbox.Command) {
	if !setsPath(cmd) {
		p.known.Store(programOf{image.id, cmd.Argv[0]}, nil)
	}
}

// setsPath reports whether a command has its programs looked for elsewhere.
func setsPath(cmd *sandbox.Command) bool {
	return slices.ContainsFunc(cmd.Env, func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
}
