package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A file is one of a bundle.
type file struct {
	name string // with "/"
	data []byte
	mode fs.FileMode
}

// bundle packs the program as an MCP bundle: a ZIP file with a manifest.json.
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

// pack makes a ZIP file of which the names alone decide the order, and that has
// the first time that such a file can have for all.
func pack(files []file) ([]byte, error) {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(f.mode)
		to, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := archive.Close() // which writes the end
	return out.Bytes(), err
}
