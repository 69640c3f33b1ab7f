package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A file belongs to a bundle.
type file struct {
	name string // with "/"
	data []byte
	mode fs.FileMode
}

// pack returns a reproducible ZIP file: sorted by name, with the earliest time that
// the format has for all files.
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
	err := archive.Close() // writes the directory
	return out.Bytes(), err
}

// encode returns indented JSON.
func encode(value any) ([]byte, error) {
	data, err := json.MarshalIndent(value, "", "  ")
	return append(data, '\n'), err
}
