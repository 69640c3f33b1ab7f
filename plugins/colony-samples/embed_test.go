package colonysamples

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"reflect"
	"strings"
	"testing"
)

func TestFSHoldsThreeSkills(t *testing.T) {
	var manifests []string
	err := fs.WalkDir(FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path.Base(name) == "SKILL.md" {
			manifests = append(manifests, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"skills/code-complexity/SKILL.md",
		"skills/scientific-debugging/SKILL.md",
		"skills/systemic-vulnerability-scan/SKILL.md",
	}
	if !reflect.DeepEqual(manifests, want) {
		t.Errorf("embedded manifests = %q, want %q", manifests, want)
	}
}

// Whatever lies under skills/ when the binary is built goes into it.
func TestFSHoldsOnlyThePlugin(t *testing.T) {
	allowed := map[string]bool{".json": true, ".md": true, ".py": true, ".sh": true}
	err := fs.WalkDir(FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "__pycache__" || !entry.IsDir() && !allowed[path.Ext(name)] {
			t.Errorf("%s is embedded; delete it (the scripts themselves leave no bytecode)", name)
		}
		if strings.Contains(name, "tests/") {
			t.Errorf("%s is embedded; tests are no part of the plugin", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPluginManifest(t *testing.T) {
	data, err := fs.ReadFile(FS(), ".claude-plugin/plugin.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Name, Description, Version, License string }
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Name != "colony-samples" || manifest.License != "Apache-2.0" {
		t.Errorf("manifest = %+v, want name colony-samples and license Apache-2.0", manifest)
	}
	if manifest.Description == "" || manifest.Version == "" {
		t.Errorf("manifest = %+v, want a description and a version", manifest)
	}
}

// TestScripts runs the unit tests of the scripts, which are in Python.
func TestScripts(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 not found: the sample skills cannot be tested")
		}
		t.Skip("python3 not found: the sample skills' own tests were NOT run")
	}
	command := exec.CommandContext(t.Context(), python, "-m", "unittest", "discover", "-s", "tests")
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("python3 -m unittest discover -s tests: %v\n%s", err, output)
	}
	t.Logf("%s", output)
}
