package clients

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A suiteRun is one run of the official conformance suite over HTTP.
type suiteRun struct {
	name    string // of the subtest, and in the baseline
	command string // one of integration/node-tools
	args    []string
	// scenarios are those to run, or none where args say which.
	scenarios []string
	hurried   bool // it has the scenario that no other test may slow down
}

// suiteRuns are what must pass: the requirement sets of both generations, the
// Skills extension in both, and the release before there were such sets.
func suiteRuns() []suiteRun {
	extension := []string{"sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"}
	return []suiteRun{
		{"suite-0.1", "mcp-conformance-0.1", []string{"--suite", "all"}, nil, false},
		{"2025-11-25", "mcp-conformance", []string{"--requirements", "2025-11-25"}, nil, false},
		{"2026-07-28", "mcp-conformance", []string{"--requirements", "2026-07-28"}, nil, true},
		// An extension belongs to no revision: both are forced.
		{"skills-2025-11-25", "mcp-conformance", []string{"--spec-version", "2025-11-25", "--force"}, extension, false},
		{"skills-2026-07-28", "mcp-conformance", []string{"--spec-version", "2026-07-28", "--force"}, extension, false},
	}
}

// Skills that do what the fixtures of the official suite have to do pass it, in
// both generations of the protocol.
func TestConformance(t *testing.T) {
	tools := lab.NodeTools(t)
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	for _, run := range suiteRuns() {
		t.Run(run.name, func(t *testing.T) {
			if !run.hurried {
				t.Parallel()
			}
			run.check(t, tools, "native")
		})
	}
}

// The driver makes no difference to the protocol. One set shows it, of which no
// scenario gives up before a container can have started.
func TestConformanceDocker(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	lab.Requires(t, "SKILLS_MCP_REQUIRE_ENGINE", lab.CheckDocker(t.Context()))
	for _, run := range suiteRuns() {
		if run.name == "2025-11-25" {
			run.check(t, tools, "docker")
		}
	}
}

// check runs the suite, and has a subtest for each of its scenarios.
func (r suiteRun) check(t *testing.T, tools, driver string) {
	changing, hostile := t.TempDir(), t.TempDir()
	hostileSkills(t, hostile)
	url := endpoint(t, driver, "--expose", "all", "--skills", absolute(t, "testdata", "conformance", "skills"), "--skills", changing, "--skills", hostile)
	baseline, results := readBaseline(t).of(r.name), t.TempDir()
	for _, scenario := range r.runAll(t, tools, url, results, changing) {
		t.Run(scenario, func(t *testing.T) {
			found := problems(readChecks(t, results, scenario))
			if scenario == hurried && len(found) > 0 {
				found = r.again(t, tools, url, changing)
			}
			for _, problem := range found {
				if !baseline.expects(scenario, problem.ID) {
					t.Errorf("%s: %s (%s): %s", strings.ToLower(problem.Status), problem.ID, problem.Description, problem.ErrorMessage)
				}
			}
			if unused := baseline.unused(scenario); len(unused) > 0 {
				t.Errorf("the baseline names checks that did not fail: %v", unused)
			}
		})
	}
}

// hurried is a scenario that waits for a skill's answer for 600 ms at most, which
// a busy machine may need to start its sandbox. It gets a second chance.
const hurried = "server-stateless"

// again runs that scenario once more.
func (r suiteRun) again(t *testing.T, tools, url, changing string) []suiteCheck {
	t.Helper()
	results := t.TempDir()
	r.args, r.scenarios = []string{"--spec-version", "2026-07-28"}, []string{hurried}
	r.runAll(t, tools, url, results, changing)
	return problems(readChecks(t, results, hurried))
}

// runAll runs the suite, and returns the names of the scenarios that it began.
func (r suiteRun) runAll(t *testing.T, tools, url, results, changing string) []string {
	t.Helper()
	args := append([]string{"server", "--url", url, "--output-dir", results}, r.args...)
	if len(r.scenarios) == 0 {
		began := r.run(t, tools, changing, args)
		if len(began) == 0 {
			t.Fatal("the suite began nothing")
		}
		return began
	}
	for _, scenario := range r.scenarios {
		r.run(t, tools, changing, append(slices.Clone(args), "--scenario", scenario))
	}
	return r.scenarios
}

// run runs the suite once, and returns the names of the scenarios that it says
// it began.
func (r suiteRun) run(t *testing.T, tools, changing string, args []string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools, r.command), args...)
	cmd.Dir = t.TempDir()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	began := announced(t, out, changing)
	// Its exit code says that something failed, and the results say what.
	err = cmd.Wait()
	if failed := new(exec.ExitError); t.Context().Err() != nil || err != nil && !errors.As(err, &failed) {
		t.Fatalf("%s: %v, having begun %v", r.command, err, began)
	}
	return began
}

// suiteCheck is what the suite says of one of its checks.
type suiteCheck struct{ ID, Description, Status, ErrorMessage string }

// problems are the checks that something must or should be that is not, and a
// scenario's first where it skipped everything: then nothing is known.
func problems(checks []suiteCheck) []suiteCheck {
	var found []suiteCheck
	skipped := true
	for _, c := range checks {
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			found = append(found, c)
		}
		// Each scenario also checks the shape of all that was sent.
		skipped = skipped && (c.Status == "SKIPPED" || c.ID == "wire-schema-valid")
	}
	if skipped && len(found) == 0 {
		found = append(found, checks[0])
	}
	return found
}

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
