package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	dockerimage "github.com/docker/docker/api/types/image"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestBuildImage(t *testing.T) {
	f := newFake(t)
	var query, sent string
	f.fault("POST /build", func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.RawQuery
		archive := tar.NewReader(r.Body)
		if header, err := archive.Next(); err == nil && header.Name == "Dockerfile" {
			text, _ := io.ReadAll(archive)
			sent = string(text)
		}
		fmt.Fprintln(w, `{"status":"Downloading","id":"a","progressDetail":{"current":9000000,"total":9000000}}`)
		fmt.Fprintln(w, `{"stream":"\u001b[91mStep 1/2\n\u001b[0m"}`)
		fmt.Fprintln(w, `{"aux":{"ID":"sha256:abc"}}`)
	})
	var output strings.Builder
	if err := f.driver(t, Options{}).BuildImage(t.Context(), "mine:1", "debian:stable-slim", &output); err != nil {
		t.Fatal(err)
	}
	if want := "pulling the base image: 8 of 9 MB\nStep 1/2\n"; output.String() != want {
		t.Errorf("printed %q, want %q", output.String(), want)
	}
	if !strings.Contains(sent, "FROM ${BASE}") || !strings.Contains(query, "t=mine%3A1") || !strings.Contains(query, "debian%3Astable-slim") {
		t.Errorf("asked for %s of\n%s", query, sent)
	}
}

func TestBuildImageFails(t *testing.T) {
	for name, test := range map[string]struct {
		fault http.HandlerFunc
		want  string
	}{
		"no base": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, `{"error":"pull access denied for x"}`) }, "--base"},
		"a command": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, `{"error":"returned a non-zero code: 100"}`)
		}, "non-zero code: 100"},
		"refused": {says(400, "invalid reference format"), "invalid reference format"},
		"gone":    {drops, "went away"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.fault("POST /build", test.fault)
			err := f.driver(t, Options{}).BuildImage(t.Context(), "mine", "", io.Discard)
			var unavailable *sandbox.UnavailableError
			if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// The Dockerfile builds on a base that has all programs, without a network.
func TestBuildImageReal(t *testing.T) {
	base := derive(t, map[string]string{"usr/local/bin/git": "#!/bin/sh\n", "usr/local/bin/npm": "#!/bin/sh\n", "usr/local/bin/pip3": "#!/bin/sh\n"})
	d := realDriver(t)
	tag := "skills-mcp-test:built-" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	var output bytes.Buffer
	if err := d.BuildImage(t.Context(), tag, base, &output); err != nil {
		t.Fatalf("%v\n%s", err, output.String())
	}
	removeImage(t, tag)
	if strings.Contains(output.String(), "\ninstalling ") || !strings.Contains(output.String(), "Successfully") {
		t.Errorf("printed\n%s", output.String())
	}
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := e.api.ImageInspect(t.Context(), tag)
	if err != nil {
		t.Fatal(err)
	}
	if found.Config.User != "65534:65534" {
		t.Errorf("the image's user is %q", found.Config.User)
	}
}

// derive makes an image of the test image and some files, each of which may be
// executed, and removes it when the test ends.
func derive(t *testing.T, files map[string]string) (ref string) {
	t.Helper()
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for name, text := range files {
		header := &tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return deriveTar(t, &buffer)
}

// deriveTar is derive with the files as a tar archive.
func deriveTar(t *testing.T, files io.Reader) (ref string) {
	t.Helper()
	d := realDriver(t)
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, err := e.api.ContainerCreate(t.Context(), &container.Config{Image: testImage(), Cmd: []string{"true"}, Labels: map[string]string{labelInstance: d.owner.instance}}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.owner.removeNow(e, made.ID)
	if err := e.api.CopyToContainer(t.Context(), made.ID, "/", files, container.CopyToContainerOptions{}); err != nil {
		t.Fatal(err)
	}
	ref = "skills-mcp-test:" + made.ID[:12]
	if _, err := e.api.ContainerCommit(t.Context(), made.ID, container.CommitOptions{Reference: ref, Config: &container.Config{}}); err != nil {
		t.Fatal(err)
	}
	removeImage(t, ref)
	return ref
}

// removeImage removes an image when the test ends.
func removeImage(t *testing.T, ref string) {
	t.Helper()
	options := realEngine(t)
	t.Cleanup(func() {
		d := New(options)
		defer d.Close()
		ctx := context.Background()
		e, err := d.connect(ctx)
		if err == nil {
			_, err = e.api.ImageRemove(ctx, ref, dockerimage.RemoveOptions{PruneChildren: true})
		}
		if err != nil {
			t.Errorf("remove the image %s: %v", ref, err)
		}
	})
}
