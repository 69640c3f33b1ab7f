package main

import (
	"encoding/json"
	"maps"
	"runtime/debug"
	"slices"
)

// bom returns the bill of materials of a release, in CycloneDX 1.6 (ECMA-424): the modules
// that are linked into the program of any of its platforms.
func (r release) bom(linked map[string]*debug.Module) ([]byte, error) {
	type component struct {
		Type       string              `json:"type"`
		Ref        string              `json:"bom-ref"`
		Name       string              `json:"name"`
		Version    string              `json:"version"`
		PURL       string              `json:"purl"`
		Properties []map[string]string `json:"properties,omitempty"`
	}
	of := func(kind, path, version string) component {
		purl := "pkg:golang/" + path + "@" + version
		return component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
	}
	program := of("application", r.Module, "v"+r.Version)
	components := []component{}
	depends := []string{}
	for _, path := range slices.Sorted(maps.Keys(linked)) {
		m := linked[path]
		c := of("library", m.Path, m.Version)
		if m.Sum != "" { // a hash of a module's tree, by Go's own rule
			c.Properties = []map[string]string{{"name": "go:sum", "value": m.Sum}}
		}
		components, depends = append(components, c), append(depends, c.Ref)
	}
	return json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     map[string]any{"component": program},
		"components":   components,
		"dependencies": []map[string]any{{"ref": program.Ref, "dependsOn": depends}},
	}, "", "  ")
}
