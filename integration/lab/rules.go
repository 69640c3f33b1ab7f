package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Module returns the module's path, a placeholder that the owner may rename.
func Module(t *testing.T) string {
	t.Helper()
	return Packages(t)["integration"].Module.Path
}

// A pkg is a package as go list describes it.
type pkg struct {
	ImportPath, Dir, Doc string
	Imports, GoFiles     []string
	Module               struct{ Path string }
}

// Packages returns the packages of the module, by path without the module's.
func Packages(t *testing.T) map[string]pkg {
	t.Helper()
	found, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// listPackages asks the go command, once for all tests.
var listPackages = sync.OnceValues(func() (map[string]pkg, error) {
	list := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Imports,GoFiles,Module", "./...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	found := map[string]pkg{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		found[strings.TrimPrefix(p.ImportPath, p.Module.Path+"/")] = p
	}
})
