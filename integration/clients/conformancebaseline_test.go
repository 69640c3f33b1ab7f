package clients

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
)

// baseline are the checks of the official suite that are known to fail.
type baseline []*expectedFailure

// An expectedFailure is one that no server of skills could help.
type expectedFailure struct {
	Runs     []string `yaml:"runs"`     // names of runs
	Scenario string   `yaml:"scenario"` // of the suite
	Check    string   `yaml:"check"`    // its id
	Why      string   `yaml:"why"`
	met      bool
}

func (e *expectedFailure) String() string { return fmt.Sprintf("%s of %s", e.Check, e.Scenario) }

// readBaseline reads testdata/conformance/expected-failures.yaml, in which
// every line has to say why.
func readBaseline(t *testing.T) baseline {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "conformance", "expected-failures.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Server baseline `yaml:"server"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	for _, e := range file.Server {
		if len(e.Runs) == 0 || e.Scenario == "" || e.Check == "" || e.Why == "" {
			t.Errorf("%v does not say in which runs, or why", e)
		}
	}
	return file.Server
}

// of returns what is expected of a run.
func (b baseline) of(run string) baseline {
	return slices.DeleteFunc(slices.Clone(b), func(e *expectedFailure) bool { return !slices.Contains(e.Runs, run) })
}

// expects tells whether a check may fail.
func (b baseline) expects(scenario, check string) bool {
	for _, e := range b {
		if e.Scenario == scenario && e.Check == check {
			e.met = true
			return true
		}
	}
	return false
}

// unused are those of a scenario that did not fail after all.
func (b baseline) unused(scenario string) baseline {
	return slices.DeleteFunc(slices.Clone(b), func(e *expectedFailure) bool { return e.met || e.Scenario != scenario })
}
