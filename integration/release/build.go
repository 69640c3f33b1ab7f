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
	program []byte
	main    debug.Module // this module; Go derives its version from the tag
	linked  []*debug.Module
	terms   []file // licences, that of this program first
}

const versionVariable = "github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build.version"

// build compiles the program reproducibly: without paths of this machine and
// without its C library. A build with -buildvcs=false has its version from the linker.
func build(ctx context.Context, p platform, version string) (*built, error) {
	folder, err := os.MkdirTemp("", "skills-mcp-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, p.Program())
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w -X "+versionVariable+"=v"+version, "-o", name, "./cmd/skills-mcp")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch)
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
	terms, err := licences(ctx, info.Deps)
	return &built{program, info.Main, info.Deps, terms}, err
}

// licences returns the terms of this program, of Go, and of each linked module, as
// those terms demand.
func licences(ctx context.Context, linked []*debug.Module) ([]file, error) {
	own, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, fmt.Errorf("not at the top of a checkout: %w", err)
	}
	root, err := goOutput(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	list := []string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, module := range linked {
		list = append(list, module.Path)
	}
	folders, err := goOutput(ctx, list...)
	if err != nil {
		return nil, fmt.Errorf("find the modules: %w", err)
	}
	texts := []file{{"LICENSE", own, 0o644}}
	for line := range strings.SplitSeq("go\t"+root+"\n"+folders, "\n") {
		module, folder, _ := strings.Cut(line, "\t")
		found, err := termsOf(module, folder)
		if err != nil {
			return nil, err
		}
		texts = append(texts, found...)
	}
	return texts, nil
}

// goOutput returns the lines that the go command prints.
func goOutput(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	lines, err := cmd.Output()
	return strings.TrimSpace(string(lines)), err
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
