package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/docker/docker/api/types/build"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// fullImage is the folder that the fuller image is built from.
//
//go:embed image
var fullImage embed.FS

// BuildImage builds the fuller image and calls it tag. base is the image to
// build on, of Debian's family; "" is the Dockerfile's own. output
// gets the build's output at once.
func (d *Driver) BuildImage(ctx context.Context, tag, base string, output io.Writer) error {
	e, err := d.connect(ctx)
	if err != nil {
		return err
	}
	files, err := buildContext()
	if err != nil {
		return err
	}
	options := build.ImageBuildOptions{Tags: []string{tag}, Remove: true, ForceRemove: true}
	if base != "" {
		options.BuildArgs = map[string]*string{"BASE": &base}
	}
	answer, err := e.api.ImageBuild(ctx, files, options)
	if err == nil {
		defer answer.Body.Close()
		err = copyBuild(output, answer.Body)
	}
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return d.lost(e, notBuilt(e, tag, err))
}

// buildContext returns the folder that is sent to the engine, as a tar archive.
func buildContext() (io.Reader, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	files, err := fs.Sub(fullImage, "image")
	if err == nil {
		err = archive.AddFS(files)
	}
	return &buffer, errors.Join(err, archive.Close())
}

// copyBuild writes the output of a build to output. Of the pull of the base image
// it writes a line now and then. Older engines colour errors, also where nobody
// sees colours.
func copyBuild(output io.Writer, body io.Reader) error {
	tally := newTally("the base image")
	plain := strings.NewReplacer("\x1b[91m", "", "\x1b[0m", "")
	return eachStatus(body, func(s pullStatus) {
		if s.Stream != "" {
			_, _ = plain.WriteString(output, s.Stream)
		} else if message, news := tally.add(s); news {
			_, _ = fmt.Fprintln(output, message)
		}
	})
}

// notBuilt explains why an image could not be built. The build's output has been shown.
func notBuilt(e *engine, tag string, err error) error {
	if gone(err) {
		return e.failed("build the image "+tag, err)
	}
	message := engineSays(err)
	remedy := "see what it printed, and try again"
	if strings.Contains(message, "pull access denied") || strings.Contains(message, "not found") {
		remedy = "name a base image that is there, or that can be pulled, with --base"
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the image %s cannot be built: %s", tag, message),
		Remedy: remedy,
		Err:    errors.Join(fmt.Errorf("build %s", tag), err),
	}
}
