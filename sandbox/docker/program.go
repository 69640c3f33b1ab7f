package docker

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// programs remembers which images have which programs. An image's id is that of
// its content, so what was found out once stays true.
type programs struct {
	known sync.Map // of lookup to bool
}

type lookup struct{ image, program, path string }

// check returns an [*sandbox.UnavailableError] when the program of cmd is not
// in its image. Only the container's init would notice otherwise, once it runs,
// and no caller could tell that from a program that ended with 127.
func (p *programs) check(ctx context.Context, b *box, cmd *sandbox.Command, image *image) error {
	program := cmd.Argv[0]
	if strings.Contains(program, "/") {
		return nil // a file of the skill's: that it cannot be run is the skill's fault
	}
	dirs := searchPath(cmd.Env, image.env)
	key := lookup{image.id, program, strings.Join(dirs, ":")}
	there, known := p.known.Load(key)
	if !known {
		found, err := b.has(ctx, program, dirs)
		if err != nil {
			return err
		}
		p.known.Store(key, found)
		there = found
	}
	if there == true {
		return nil
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the image %s of the role %q has no program %q", image.ref, image.role, program),
		Remedy: fmt.Sprintf("set %s to an image that has it", setting(image.role)),
	}
}

// has reports whether one of the folders dirs of the container has program.
func (b *box) has(ctx context.Context, program string, dirs []string) (bool, error) {
	for _, dir := range dirs {
		_, err := b.engine.api.ContainerStatPath(ctx, b.id, path.Join(dir, program))
		if err == nil {
			return true, nil
		}
		if !cerrdefs.IsNotFound(err) {
			return false, b.engine.failed("look for the program "+program, err)
		}
	}
	return false, nil
}
