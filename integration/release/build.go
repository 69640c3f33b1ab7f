package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// A built is the compiled program of one platform, with its metadata.
type built struct {
	platform platform
	program  []byte
	module   string // the path of this module
	version  string // the main module's, which Go derives from the tag
	texts    []file // licences, that of this program first
}

// build compiles the program reproducibly: without paths of this machine and
// without its C library.
func build(ctx context.Context, p platform) (*built, error) {
	folder, err := os.MkdirTemp("", "skills-mcp-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, p.program())
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", name, "./cmd/skills-mcp")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	compile.Stderr = os.Stderr
	if err := compile.Run(); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		return nil, err
	}
	texts, err := licences(ctx, info)
	if err != nil {
		return nil, err
	}
	return &built{p, program, info.Main.Path, info.Main.Version, texts}, nil
}

// licences returns the terms of this program, of Go, and of each linked module, as
// those terms demand.
func licences(ctx context.Context, info *debug.BuildInfo) ([]file, error) {
	own, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, fmt.Errorf("not at the top of a checkout: %w", err)
	}
	texts := []file{{name: "LICENSE", data: own, mode: 0o644}}
	add := func(name string, ask ...string) error {
		folder, err := goOutput(ctx, ask...)
		if err != nil {
			return fmt.Errorf("find %s: %w", name, err)
		}
		found, err := termsOf(name, folder)
		texts = append(texts, found...)
		return err
	}
	if err := add("go", "env", "GOROOT"); err != nil {
		return nil, err
	}
	for _, module := range info.Deps {
		if err := add(module.Path, "list", "-m", "-f", "{{.Dir}}", module.Path); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// goOutput returns the line that the go command prints.
func goOutput(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	line, err := cmd.Output()
	return strings.TrimSpace(string(line)), err
}

// termsOf reads the licence and notices of a module. A module without any is an
// error: nobody may distribute it.
func termsOf(module, folder string) ([]file, error) {
	var texts []file
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "PATENTS*"} {
		names, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			texts = append(texts, file{"licenses/" + module + "/" + filepath.Base(name), data, 0o644})
		}
	}
	if len(texts) == 0 {
		return nil, errors.New(module + " has no licence")
	}
	return texts, nil
}
