package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// options are the values of the flags.
type options struct {
	version   string
	out       string
	platforms []platform
}

// release writes a bundle for each platform and then server.json, so that all
// files that server.json names exist.
func release(ctx context.Context, o *options, log io.Writer) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	r, called := registered{version: o.version}, ""
	for _, p := range o.platforms {
		b, err := build(ctx, p)
		if err != nil {
			return fmt.Errorf("build for %s: %w", p, err)
		}
		a, err := o.bundle(b, log)
		if err != nil {
			return fmt.Errorf("bundle for %s: %w", p, err)
		}
		r.module, called = b.module, b.version
		r.assets = append(r.assets, a)
	}
	if called != "v"+o.version {
		fmt.Fprintf(log, "note: the program calls itself %s; a release is made in a clean checkout of the tag v%s\n", called, o.version)
	}
	data, err := encode(r.server())
	if err != nil {
		return err
	}
	return write(o.out, "server.json", data, log)
}

// bundle writes the bundle of one platform.
func (o *options) bundle(b *built, log io.Writer) (asset, error) {
	data, err := b.bundle(o.version)
	if err != nil {
		return asset{}, err
	}
	digest := sha256.Sum256(data)
	name := fmt.Sprintf("skills-mcp-%s-%s-%s.mcpb", o.version, b.platform.os, b.platform.arch)
	return asset{name, hex.EncodeToString(digest[:])}, write(o.out, name, data, log)
}

func write(folder, name string, data []byte, log io.Writer) error {
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(log, "%s (%d bytes)\n", file, len(data))
	return err
}

// bundle returns the program as an MCP bundle: a ZIP file with a manifest.json.
func (b *built) bundle(version string) ([]byte, error) {
	manifest, err := encode(newManifest(b.platform, b.module, version))
	if err != nil {
		return nil, err
	}
	return pack(append(b.texts,
		file{"manifest.json", manifest, 0o644},
		file{"server/" + b.platform.program(), b.program, 0o755},
	))
}
