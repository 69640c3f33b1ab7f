package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// release writes a bundle for each platform, and then server.json, so that one
// that is there has all that it names.
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

// bundle writes that of one platform.
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

// encode writes JSON for people and programs.
func encode(value any) ([]byte, error) {
	data, err := json.MarshalIndent(value, "", "  ")
	return append(data, '\n'), err
}
