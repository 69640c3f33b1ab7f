package integration

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A suiteRun is one run of the official conformance suite over HTTP.
type suiteRun struct {
	name     string // of the subtest, and in the baseline
	command  string // one of integration/node-tools
	skills   string // the folder that is served, below testdata/conformance
	args     []string
	scenario string // the only one, or "" where the suite says which it runs
}

// suiteRuns are what must pass: the requirement sets of both generations, the
// Skills extension in both, and the release before there were such sets.
func suiteRuns() []suiteRun {
	runs := []suiteRun{
		{"suite-0.1", "mcp-conformance-0.1", "skills", []string{"--suite", "all"}, ""},
		{"2025-11-25", "mcp-conformance", "skills", []string{"--requirements", "2025-11-25"}, ""},
		{"2026-07-28", "mcp-conformance", "skills", []string{"--requirements", "2026-07-28"}, ""},
	}
	// What is served to these is named as the standard has it; the suite's own
	// names for its fixtures are not.
	for _, scenario := range []string{"sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"} {
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			runs = append(runs, suiteRun{
				"skills-" + version + "/" + scenario, "mcp-conformance", "library",
				[]string{"--scenario", scenario, "--spec-version", version}, scenario,
			})
		}
	}
	return runs
}

// Skills that do what the fixtures of the official suite have to do pass it, in
// both generations of the protocol.
func TestConformance(t *testing.T) {
	tools := nodeTools(t)
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
	for _, run := range suiteRuns() {
		t.Run(run.name, func(t *testing.T) { run.check(t, tools, "native") })
	}
}

// The drivers make no difference to the protocol; the set that runs most skills
// shows it.
func TestConformanceDocker(t *testing.T) {
	tools := nodeTools(t)
	need(t, "SKILLS_MCP_REQUIRE_ENGINE", checkDocker(t.Context()))
	for _, run := range suiteRuns() {
		if run.name == "2026-07-28" {
			run.check(t, tools, "docker")
		}
	}
}

// check runs the suite, and has a subtest for each of its scenarios.
func (r suiteRun) check(t *testing.T, tools, driver string) {
	changing := t.TempDir()
	url := serveHTTP(t, driver, "--expose", "all", "--skills", absolute(t, "testdata", "conformance", r.skills), "--skills", changing)
	baseline := readBaseline(t).of(r.name)
	results := t.TempDir()
	scenarios := r.run(t, tools, url, results, changing)
	if len(scenarios) == 0 {
		t.Fatal("the suite ran nothing")
	}
	for _, scenario := range scenarios {
		t.Run(scenario, func(t *testing.T) {
			for _, c := range readChecks(t, results, scenario) {
				if c.failed() && !baseline.expects(scenario, c.ID) {
					t.Errorf("%s: %s (%s): %s", strings.ToLower(c.Status), c.ID, c.Description, c.ErrorMessage)
				}
			}
		})
	}
	for _, stale := range baseline.unused() {
		t.Errorf("%s is in the baseline, and did not fail", stale)
	}
}

// run runs the suite, and returns the names of the scenarios that it began.
func (r suiteRun) run(t *testing.T, tools, url, results, changing string) []string {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args := append([]string{"server", "--url", url, "--output-dir", results}, r.args...)
	cmd := exec.CommandContext(ctx, filepath.Join(tools, r.command), args...)
	cmd.Dir = results
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scenarios := announced(t, out, changing)
	err = cmd.Wait()
	// Its exit code tells that something failed, and the results tell what.
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) || ctx.Err() != nil {
		t.Fatalf("%s: %v, after %v", r.command, err, scenarios)
	}
	if r.scenario != "" {
		return []string{r.scenario}
	}
	return scenarios
}

// suiteCheck is what the suite says of one of its checks.
type suiteCheck struct{ ID, Description, Status, ErrorMessage string }

// failed is true where something that must or should be is not.
func (c suiteCheck) failed() bool { return c.Status == "FAILURE" || c.Status == "WARNING" }

// readChecks reads a scenario's results. It has none where it broke.
func readChecks(t *testing.T, results, scenario string) []suiteCheck {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(results, "server-"+scenario+"-2*", "checks.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("there are %d results (%v): the scenario did not end", len(found), err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []suiteCheck
	if err := json.Unmarshal(data, &checks); err != nil {
		t.Fatal(err)
	}
	if len(checks) == 0 {
		t.Fatal("nothing was checked")
	}
	return checks
}
