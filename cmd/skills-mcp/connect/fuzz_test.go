package connect

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Adding and removing change nothing but the entry, or are refused.
func fuzzEdits(f *testing.F, format format, clients ...string) {
	written := fields{{"command", ours.Command}, {"args", ours.Args}}
	files, err := filepath.Glob("testdata/edits/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no files", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		archive := txtar.Parse(data)
		for _, client := range clients {
			if strings.HasPrefix(string(archive.Comment), client) {
				f.Add(archive.Files[0].Data, "skills")
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		found, err := entries(format, data)
		if err != nil || !printable(name) {
			t.Skip()
		}
		added, err := format.set(data, name, written)
		if err != nil {
			return // refused
		}
		if err := verify(format, data, added, name, written.is); err != nil {
			return // refused
		}
		if found[name] == nil && !hasAll(added, data) {
			t.Fatalf("added: something is gone\n%q\n%q", data, added)
		}
		removed, err := format.remove(added, name)
		if err != nil || verify(format, added, removed, name, func(entry any) bool { return entry == nil }) != nil {
			return // refused
		}
		if !hasAll(added, removed) {
			t.Fatalf("removed: something is new\n%q\n%q", added, removed)
		}
	})
}

// hasAll reports whether a file has all that another has, in order, but for
// blanks: comments too, which are in no tree.
func hasAll(data, all []byte) bool {
	for _, b := range all {
		if strings.ContainsRune(" \t\r\n", rune(b)) {
			continue
		}
		i := bytes.IndexByte(data, b)
		if i < 0 {
			return false
		}
		data = data[i+1:]
	}
	return true
}

func printable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' })
}

func FuzzJSON(f *testing.F) {
	fuzzEdits(f, jsonFormat{section: "servers"}, "vscode")
}

func FuzzTOML(f *testing.F) {
	fuzzEdits(f, tomlFormat{section: "mcp_servers"}, "codex")
}
