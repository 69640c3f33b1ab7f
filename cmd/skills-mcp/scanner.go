package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/cache"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// scan reads the roots into a catalog.
func (s *settings) scan(ctx context.Context) (*skills.Catalog, error) {
	scanner, _ := s.scanner()
	catalog, err := scanner.Scan(ctx)
	if err != nil {
		return nil, err
	}
	return s.gate.Apply(catalog), nil
}

// scanner returns what reads the roots, with what the last server left. saved
// waits until what it leaves is written.
func (s *settings) scanner() (scanner *scan.Scanner, saved func()) {
	roots, options := s.roots(), s.scanOptions()
	saved = func() {}
	if store := s.parsed(roots); store != nil {
		options.Cache, saved = store.Open, store.Wait
	}
	return scan.NewScanner(roots, options), saved
}

// parsed is where what is read of the roots is kept; nil where that cannot be.
func (s *settings) parsed(roots []scan.Root) *cache.Store {
	dir, err := s.cacheDir()
	if err != nil {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	info, err := os.Stat(program)
	if err != nil {
		return nil
	}
	return cache.New(cache.Options{
		File: filepath.Join(dir, "parsed", rootsKey(roots)),
		// Another build may read the same files otherwise.
		Version: fmt.Sprint(readBuilt().Version, info.Size(), info.ModTime().UnixNano()),
		Logger:  s.logger,
	})
}

// rootsKey names a set of roots.
func rootsKey(roots []scan.Root) string {
	var key []string
	for _, root := range roots {
		key = append(key, string(root.Source), root.Dir, root.Within, root.Label, fmt.Sprint(root.Plugins))
	}
	encoded, _ := json.Marshal(key) // strings always can be
	return fmt.Sprintf("%x", sha256.Sum256(encoded))[:32]
}
