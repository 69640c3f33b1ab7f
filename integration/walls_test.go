package integration

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// TestWalls keeps every import of ours where the table walls allows it, and the table
// free of rows and names that nothing needs.
func TestWalls(t *testing.T) {
	t.Parallel()
	prefix := lab.Module(t) + "/"
	found := lab.Packages(t)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		row, known := walls[name]
		if !known {
			t.Errorf("%s has no row: write into walls which of our packages it may import", name)
			continue
		}
		var imported []string
		for _, full := range found[name].Imports {
			if own, ours := strings.CutPrefix(full, prefix); ours {
				imported = append(imported, own)
			}
		}
		compare(t, name, strings.Fields(row), imported)
	}
	for name := range walls {
		if _, ok := found[name]; !ok {
			t.Errorf("walls has a row for %s, which is no package", name)
		}
	}
}

// TestLibraries confines each library to a few packages, so that a successor is a
// small change.
func TestLibraries(t *testing.T) {
	t.Parallel()
	users := map[string][]string{}
	for name, p := range lab.Packages(t) {
		for library := range libraries {
			if slices.ContainsFunc(p.Imports, func(imported string) bool { return under(imported, library) }) {
				users[library] = append(users[library], name)
			}
		}
	}
	for library, homes := range libraries {
		slices.Sort(users[library])
		for _, user := range users[library] {
			if !slices.Contains(strings.Fields(homes), user) {
				t.Errorf("%s must not import %s; its homes are %s", user, library, homes)
			}
		}
	}
}

func compare(t *testing.T, name string, allowed, imported []string) {
	t.Helper()
	for _, own := range imported {
		if !slices.Contains(allowed, own) {
			t.Errorf("%s must not import %s", name, own)
		}
	}
	for _, own := range allowed {
		if !slices.Contains(imported, own) {
			t.Errorf("%s does not import %s: take it out of walls", name, own)
		}
	}
}

// TestFloors: the children of a folder lie either all below it, or all above it.
func TestFloors(t *testing.T) {
	t.Parallel()
	for name := range walls {
		var below, above []string
		for other, row := range walls {
			if path.Dir(other) != name {
				continue
			}
			if slices.Contains(strings.Fields(walls[name]), other) {
				below = append(below, other)
			}
			if slices.Contains(strings.Fields(row), name) {
				above = append(above, other)
			}
		}
		if len(below) > 0 && len(above) > 0 {
			t.Errorf("%s imports %v, and %v import it", name, below, above)
		}
	}
}

// TestMeetingPlace: the model imports nothing of ours, and skills and sandboxes do
// not know each other.
func TestMeetingPlace(t *testing.T) {
	t.Parallel()
	if walls["skills"] != "" {
		t.Errorf("skills imports %s", walls["skills"])
	}
	for name, row := range walls {
		for _, own := range strings.Fields(row) {
			switch {
			case under(name, "skills") && !under(own, "skills"),
				under(name, "sandbox") && !under(own, "sandbox"),
				under(name, "server") && !under(own, "server") && !under(own, "skills") && !under(own, "sandbox"),
				under(own, "cmd") && !under(name, "cmd"),
				under(own, "integration") && !under(name, "integration"),
				under(own, "sandbox/sandboxtest"), under(own, "skills/snapshot/edittest"), under(own, "skills/install/download/faulttest"):
				t.Errorf("walls allows %s to import %s", name, own)
			}
		}
	}
}

// walls has a row for each package: the packages of ours that it imports. A new arrow is
// a decision: write it here, and into docs/architecture.md where it changes the picture.
var walls = map[string]string{
	"cmd/skills-mcp":              "cmd/skills-mcp/build cmd/skills-mcp/config cmd/skills-mcp/connect cmd/skills-mcp/connection cmd/skills-mcp/diagnosis cmd/skills-mcp/endpoint cmd/skills-mcp/exitcode cmd/skills-mcp/heap cmd/skills-mcp/invocation cmd/skills-mcp/lookup cmd/skills-mcp/plain cmd/skills-mcp/report cmd/skills-mcp/review cmd/skills-mcp/serving cmd/skills-mcp/setup cmd/skills-mcp/shortcut cmd/skills-mcp/telemetry cmd/skills-mcp/terminal sandbox sandbox/docker sandbox/egress sandbox/shellproto server server/agents server/api server/approval server/approval/tty server/audit server/describe server/elicit server/exposure server/httpd server/identity server/identity/tokens server/installation server/manage server/plugins/hookio server/policy server/requirements server/result server/run server/seal server/secrets server/skillshost server/store server/termtext server/trust server/web/signin skills skills/check skills/install skills/install/adopt skills/install/clawhub skills/install/lock skills/install/oci skills/install/source skills/lazyregexp skills/scaffold skills/scan skills/search skills/skillfs skills/snapshot skills/surface skills/verdict",
	"cmd/skills-mcp/build":        "server",
	"cmd/skills-mcp/config":       "cmd/skills-mcp/plain sandbox sandbox/admission sandbox/egress sandbox/session server/agents server/agents/chat server/approval server/audit server/elicit server/exposure server/httpd server/identity server/identity/oauth server/policy server/run server/secrets server/termtext skills skills/install/clawhub skills/install/quarantine skills/install/source skills/lazyregexp skills/scan skills/verdict",
	"cmd/skills-mcp/connection":   "cmd/skills-mcp/config cmd/skills-mcp/connect cmd/skills-mcp/endpoint cmd/skills-mcp/exitcode cmd/skills-mcp/plain cmd/skills-mcp/setup server/transport skills/skillfs",
	"cmd/skills-mcp/connect":      "cmd/skills-mcp/plain skills/atomicfile skills/lazyregexp skills/skillfs",
	"cmd/skills-mcp/plain":        "cmd/skills-mcp/terminal server/termtext",
	"cmd/skills-mcp/serving":      "cmd/skills-mcp/build cmd/skills-mcp/config cmd/skills-mcp/connect cmd/skills-mcp/connection cmd/skills-mcp/diagnosis cmd/skills-mcp/endpoint cmd/skills-mcp/exitcode cmd/skills-mcp/plain cmd/skills-mcp/setup cmd/skills-mcp/terminal sandbox sandbox/session server server/agents server/api server/approval server/elicit server/httpd server/identity server/identity/oauth server/identity/tokens server/installation server/jobs server/live server/manage server/policy server/replica server/run server/seal server/store server/telemetry server/transport server/usage server/web server/web/signin skills skills/install/clawhub skills/scan skills/snapshot",
	"cmd/skills-mcp/setup":        "cmd/skills-mcp/build cmd/skills-mcp/config cmd/skills-mcp/exitcode cmd/skills-mcp/heap plugins/colony-samples sandbox sandbox/admission sandbox/docker sandbox/egress sandbox/native sandbox/protect sandbox/session sandbox/warmpool server server/agents server/agents/chat server/approval server/audit server/describe server/elicit server/exposure server/feedback server/identity server/identity/tokens server/live server/manage server/pins server/plugins server/plugins/conduit server/plugins/hooks server/policy server/requirements server/result server/run server/seal server/secrets server/skillsext server/skillshost server/store server/telemetry server/trust server/verdicts skills skills/cache skills/install skills/install/clawhub skills/install/download skills/install/files skills/install/git skills/install/oci skills/install/source skills/install/wellknown skills/scan skills/search skills/skillfs skills/snapshot skills/verdict skills/watch",
	"cmd/skills-mcp/telemetry":    "cmd/skills-mcp/build cmd/skills-mcp/config server/httpd server/telemetry",
	"cmd/skills-mcp/exitcode":     "",
	"cmd/skills-mcp/heap":         "",
	"cmd/skills-mcp/terminal":     "server/termtext skills/lazyregexp",
	"integration":                 "",
	"integration/agents":          "",
	"integration/bench":           "integration/bench/catalog integration/modelserver sandbox sandbox/docker sandbox/kubernetes sandbox/native sandbox/warmpool",
	"integration/bench/catalog":   "",
	"integration/bench/search":    "skills skills/scan skills/search",
	"integration/chaos":           "",
	"integration/clients":         "",
	"integration/consent":         "",
	"integration/lab":             "integration/modelserver sandbox sandbox/docker sandbox/native server/agents/chat",
	"integration/packages":        "",
	"integration/page":            "",
	"integration/secrets":         "",
	"integration/soak":            "",
	"integration/house":           "",
	"integration/house/mutate":    "",
	"integration/modelserver":     "server/agents/chat",
	"integration/needs":           "integration/lab",
	"integration/release":         "",
	"integration/scale":           "",
	"plugins/colony-samples":      "",
	"sandbox":                     "",
	"sandbox/admission":           "sandbox",
	"sandbox/docker":              "sandbox sandbox/docker/seccomp sandbox/egress sandbox/protect sandbox/shellproto sandbox/warmpool",
	"sandbox/docker/seccomp":      "",
	"sandbox/egress":              "sandbox sandbox/redact",
	"sandbox/kubernetes":          "sandbox sandbox/egress sandbox/protect sandbox/redact sandbox/shellproto sandbox/warmpool",
	"sandbox/native":              "sandbox sandbox/egress sandbox/protect",
	"sandbox/protect":             "sandbox",
	"sandbox/redact":              "",
	"sandbox/sandboxtest":         "sandbox sandbox/session",
	"sandbox/session":             "sandbox",
	"sandbox/shellproto":          "sandbox",
	"sandbox/warmpool":            "sandbox",
	"server":                      "server/agents server/agents/chat server/clientroots server/complete server/describe server/elicit server/exposure server/feedback server/icon server/identity server/media server/output server/replica server/result server/rpc server/run server/scriptio server/skillsext server/tasks server/termtext server/titles server/transport skills skills/infer skills/scan skills/schema skills/search skills/skillfs skills/snapshot skills/truncate",
	"server/jobs":                 "server/approval server/elicit server/identity server/replica server/result server/run server/scriptio server/work",
	"server/web":                  "sandbox server/agents server/api server/approval server/audit server/complete server/describe server/icon server/identity server/installation server/jobs server/manage server/pins server/policy server/result server/run server/store server/termtext server/web/form server/web/markdown server/web/markup server/web/signin skills skills/install/clawhub skills/install/source skills/lazyregexp skills/scan skills/skillfs skills/truncate skills/verdict",
	"server/web/form":             "skills skills/schema",
	"server/web/markdown":         "server/termtext server/web/markup",
	"server/web/markup":           "",
	"server/web/signin":           "server/identity server/web/markup",
	"server/approval":             "server/elicit server/identity server/run server/seal server/store server/termtext skills skills/lazyregexp skills/skillfs skills/snapshot",
	"server/approval/tty":         "server/approval server/termtext",
	"server/api":                  "sandbox server/agents server/approval server/audit server/describe server/identity server/jobs server/manage server/output server/policy server/result server/run server/secrets server/store skills skills/schema skills/search",
	"server/audit":                "sandbox sandbox/redact server/identity server/run server/store server/termtext skills skills/lazyregexp",
	"server/clientroots":          "server/transport",
	"server/complete":             "",
	"server/describe":             "sandbox sandbox/egress server/exposure server/feedback server/run server/skillsext skills skills/check skills/dependencies skills/scan skills/skillfs skills/snapshot skills/truncate",
	"server/elicit":               "sandbox server/identity server/rpc server/termtext server/work skills skills/lazyregexp skills/schema",
	"server/exposure":             "server/termtext skills",
	"server/feedback":             "server/audit server/identity server/run server/store server/termtext skills skills/truncate",
	"server/agents":               "server/agents/chat server/audit server/identity server/policy server/run server/store server/termtext server/work skills skills/lazyregexp skills/manifest skills/truncate",
	"server/agents/chat":          "sandbox/redact server/termtext skills/lazyregexp",
	"server/httpd":                "server/identity",
	"server/identity":             "",
	"server/identity/oauth":       "server/identity",
	"server/identity/tokens":      "server/identity server/store",
	"server/installation":         "server/run server/termtext server/work skills skills/install skills/install/source skills/surface skills/verdict",
	"server/live":                 "sandbox server/requirements skills skills/activation skills/scan skills/watch",
	"server/icon":                 "",
	"server/manage":               "server/describe server/identity server/installation server/pins server/policy server/run server/seal server/secrets server/termtext skills skills/install skills/install/lock skills/install/source skills/skillfs skills/snapshot skills/verdict",
	"server/media":                "",
	"server/output":               "server/identity",
	"server/verdicts":             "server/run server/termtext skills skills/atomicfile skills/snapshot skills/verdict",
	"server/pins":                 "server/run server/seal server/store server/termtext skills skills/skillfs skills/surface",
	"server/plugins":              "sandbox sandbox/egress server/identity server/plugins/conduit server/termtext skills skills/atomicfile skills/dependencies skills/lazyregexp skills/manifest skills/schema skills/skillfs skills/truncate",
	"server/plugins/conduit":      "sandbox skills skills/lazyregexp skills/schema",
	"server/plugins/hookio":       "skills/truncate",
	"server/plugins/hooks":        "sandbox server/identity server/plugins/hookio server/result server/run skills skills/lazyregexp skills/truncate",
	"server/policy":               "sandbox sandbox/egress server/identity server/run server/seal server/secrets server/store server/termtext skills skills/lazyregexp",
	"server/replica":              "server/identity server/store",
	"server/requirements":         "sandbox skills skills/atomicfile",
	"server/result":               "sandbox server/identity server/media server/output server/run server/scriptio server/termtext skills skills/schema",
	"server/rpc":                  "",
	"server/run":                  "sandbox sandbox/egress sandbox/redact sandbox/session server/elicit server/identity server/scriptio skills skills/dependencies skills/infer skills/lazyregexp skills/schema skills/skillfs skills/snapshot",
	"server/scriptio":             "server/media skills/lazyregexp skills/schema",
	"server/skillsext":            "skills skills/check skills/manifest skills/skillfs skills/stamp",
	"server/secrets":              "sandbox/redact server/identity skills/atomicfile skills/lazyregexp",
	"server/seal":                 "server/store skills/atomicfile",
	"server/skillshost":           "server/run server/seal server/store server/termtext skills skills/atomicfile skills/lazyregexp skills/manifest skills/skillfs skills/truncate",
	"server/store":                "",
	"server/store/postgres":       "",
	"server/tasks":                "server/elicit server/identity server/replica server/rpc server/work",
	"server/termtext":             "skills skills/truncate",
	"server/titles":               "server/termtext skills skills/truncate",
	"server/transport":            "server/identity server/replica server/rpc server/termtext",
	"server/trust":                "server/run server/seal server/store skills skills/stamp",
	"server/usage":                "",
	"skills":                      "",
	"skills/activation":           "skills skills/scan skills/skillfs",
	"skills/atomicfile":           "",
	"skills/cache":                "skills skills/atomicfile skills/scan skills/stamp",
	"skills/check":                "skills skills/atomicfile skills/infer skills/infer/python skills/infer/python/syntax skills/lazyregexp skills/manifest skills/skillfs",
	"skills/dependencies":         "skills/lazyregexp skills/skillfs",
	"skills/infer":                "skills skills/infer/cli skills/infer/node skills/infer/python skills/infer/shell skills/infer/usagetext skills/lazyregexp skills/skillfs skills/truncate",
	"skills/infer/cli":            "skills skills/lazyregexp",
	"skills/infer/node":           "skills/infer/cli skills/infer/node/js skills/infer/node/syntax skills/infer/usagetext skills/lazyregexp",
	"skills/infer/node/js":        "skills/infer/cli skills/infer/node/syntax skills/infer/usagetext",
	"skills/infer/node/syntax":    "",
	"skills/infer/python":         "skills skills/infer/cli skills/infer/python/fileuse skills/infer/python/syntax skills/infer/usagetext skills/lazyregexp",
	"skills/infer/shell":          "skills/infer/cli skills/infer/usagetext skills/lazyregexp",
	"skills/infer/usagetext":      "skills/lazyregexp skills/truncate",
	"skills/install":              "skills skills/check skills/install/lock skills/install/marketplace skills/install/quarantine skills/install/source skills/manifest skills/scan skills/skillfs skills/snapshot skills/surface",
	"skills/install/download":     "skills/install/source",
	"skills/install/files":        "skills/install/download skills/install/quarantine skills/install/source skills/skillfs skills/snapshot",
	"skills/install/collation":    "",
	"skills/install/lock":         "skills/install/collation skills/install/source skills/lazyregexp skills/skillfs skills/surface",
	"skills/install/oci":          "skills/install/download skills/install/quarantine skills/install/source skills/lazyregexp",
	"skills/install/quarantine":   "skills skills/skillfs skills/truncate",
	"skills/install/source":       "skills/lazyregexp",
	"skills/lazyregexp":           "",
	"skills/manifest":             "skills skills/infer skills/infer/python skills/lazyregexp skills/schema skills/skillfs skills/truncate",
	"skills/scaffold":             "skills/check",
	"skills/scan":                 "skills skills/infer skills/manifest skills/skillfs skills/stamp skills/truncate",
	"skills/schema":               "skills skills/truncate",
	"skills/skillfs":              "skills/truncate",
	"skills/search":               "skills skills/search/lexicon skills/search/text skills/truncate",
	"skills/search/lexicon":       "skills/search/text",
	"skills/search/text":          "",
	"skills/snapshot":             "skills/skillfs skills/stamp",
	"skills/snapshot/edittest":    "",
	"skills/stamp":                "",
	"skills/verdict":              "skills skills/lazyregexp skills/surface skills/truncate",
	"skills/surface":              "skills skills/infer/shell skills/lazyregexp skills/skillfs skills/truncate",
	"skills/truncate":             "",
	"skills/watch":                "skills/scan skills/skillfs",
	"skills/infer/python/syntax":  "",
	"server/telemetry":            "sandbox server/identity server/run server/transport skills/lazyregexp",
	"server/work":                 "sandbox server/identity",
	"skills/infer/python/fileuse": "skills/infer/python/syntax",
	"cmd/skills-mcp/diagnosis":    "cmd/skills-mcp/build cmd/skills-mcp/config cmd/skills-mcp/connect cmd/skills-mcp/endpoint cmd/skills-mcp/plain cmd/skills-mcp/setup sandbox server/approval server/exposure server/httpd server/identity/oauth server/run server/skillshost skills skills/snapshot skills/verdict skills/watch",
	"cmd/skills-mcp/endpoint":     "cmd/skills-mcp/config cmd/skills-mcp/plain cmd/skills-mcp/setup server/approval server/web skills/atomicfile",
	"cmd/skills-mcp/invocation":   "sandbox server/termtext skills skills/schema",
	"cmd/skills-mcp/lookup":       "cmd/skills-mcp/exitcode cmd/skills-mcp/plain server server/requirements skills skills/skillfs",
	"cmd/skills-mcp/report":       "cmd/skills-mcp/plain cmd/skills-mcp/setup cmd/skills-mcp/terminal sandbox server/approval server/describe server/feedback server/pins server/run server/skillshost server/store server/termtext skills skills/dependencies skills/install/adopt skills/snapshot skills/surface skills/verdict",
	"cmd/skills-mcp/review":       "cmd/skills-mcp/plain cmd/skills-mcp/setup cmd/skills-mcp/terminal server/describe server/skillsext skills skills/check skills/dependencies skills/scan skills/skillfs",
	"cmd/skills-mcp/shortcut":     "skills/atomicfile",

	"skills/install/download/faulttest": "",

	// fetchers of skills
	"skills/install/git":         "skills/install/quarantine skills/install/source skills/truncate",
	"skills/install/adopt":       "skills skills/install/collation skills/install/lock skills/install/source skills/lazyregexp skills/manifest skills/scan skills/skillfs skills/snapshot skills/surface",
	"skills/install/marketplace": "skills skills/install/source skills/manifest skills/skillfs",
	"skills/install/clawhub":     "skills/install/download skills/install/lock skills/install/quarantine skills/install/source skills/truncate",
	"skills/install/wellknown":   "skills/install/download skills/install/quarantine skills/install/source skills/lazyregexp skills/manifest skills/skillfs skills/truncate",
}

// libraries has the packages that may import a library of others.
var libraries = map[string]string{
	"filippo.io/age":                           "server/secrets",
	"github.com/BurntSushi/toml":               "cmd/skills-mcp/connect skills/dependencies",
	"github.com/agext/levenshtein":             "cmd/skills-mcp/plain skills skills/manifest skills/schema",
	"github.com/blevesearch/snowballstem":      "skills/search/text",
	"github.com/bmatcuk/doublestar/v4":         "sandbox/egress server/policy skills/activation skills/manifest",
	"github.com/containerd/errdefs":            "sandbox/docker",
	"github.com/coreos/go-oidc/v3":             "server/identity/oauth",
	"github.com/go-jose/go-jose/v4":            "server/identity/oauth",
	"github.com/coreos/go-systemd":             "cmd/skills-mcp/serving",
	"github.com/docker/docker":                 "sandbox/docker",
	"github.com/docker/go-units":               "cmd/skills-mcp/config",
	"github.com/fsnotify/fsnotify":             "skills/watch",
	"github.com/gofrs/flock":                   "cmd/skills-mcp/endpoint sandbox/docker sandbox/protect sandbox/sandboxtest server/secrets server/store server/usage skills/install skills/install/lock",
	"github.com/goreleaser/nfpm/v2":            "integration/release",
	"github.com/gorilla/websocket":             "integration/bench sandbox/kubernetes",
	"github.com/hashicorp/yamux":               "sandbox/egress",
	"github.com/invopop/jsonschema":            "server server/api server/audit server/elicit server/plugins skills skills/cache skills/infer skills/infer/cli skills/infer/node/js skills/infer/python skills/infer/shell skills/manifest skills/schema",
	"github.com/jackc/pgx/v5":                  "server/store/postgres",
	"github.com/mark3labs/mcp-go":              "integration/lab server server/clientroots server/elicit server/identity/oauth server/plugins server/result server/rpc server/scriptio server/skillshost server/tasks server/transport",
	"github.com/opencontainers/go-digest":      "skills/install/oci",
	"github.com/opencontainers/image-spec":     "skills/install/oci",
	"github.com/rogpeppe/go-internal":          "integration/lab sandbox/sandboxtest skills/surface",
	"github.com/santhosh-tekuri/jsonschema/v6": "skills/schema",
	"github.com/spf13/cobra":                   "cmd/skills-mcp",
	"github.com/spf13/pflag":                   "cmd/skills-mcp cmd/skills-mcp/serving",
	"github.com/tailscale/hujson":              "cmd/skills-mcp/connect",
	"github.com/titanous/json5":                "cmd/skills-mcp/setup skills/manifest",
	"github.com/yosida95/uritemplate/v3":       "server skills/manifest",
	"github.com/zalando/go-keyring":            "server/secrets",
	"github.com/prometheus/client_golang":      "cmd/skills-mcp/telemetry",
	"go.opentelemetry.io/otel":                 "cmd/skills-mcp/telemetry server/telemetry",
	"go.opentelemetry.io/otel/exporters":       "cmd/skills-mcp/telemetry",
	"go.opentelemetry.io/otel/sdk":             "cmd/skills-mcp/telemetry",
	"go.opentelemetry.io/proto/otlp":           "cmd/skills-mcp/telemetry",
	"google.golang.org/grpc":                   "", // OpenTelemetry's own client of collectors has it: 9.7 MB
	"google.golang.org/protobuf":               "cmd/skills-mcp/telemetry",
	"golang.org/x/net":                         "sandbox/native",
	"golang.org/x/oauth2":                      "server/identity/oauth",
	"golang.org/x/sys":                         "integration/lab sandbox/native server/approval/tty server/store/postgres skills/install skills/stamp",
	"golang.org/x/term":                        "cmd/skills-mcp/terminal server/approval/tty",
	"golang.org/x/text":                        "cmd/skills-mcp/terminal server/skillshost skills/install/collation skills/install/quarantine skills/scan skills/schema skills/search/text",
	"golang.org/x/time":                        "sandbox/kubernetes server/httpd",
	"golang.org/x/tools":                       "integration/bench/search integration/house",
	"gopkg.in/yaml.v3":                         "cmd/skills-mcp/config skills/check skills/install/adopt skills/manifest skills/verdict",
	"html/template":                            "", // it keeps 4 MB of methods in the program: see server/web/markup
	"k8s.io/api":                               "integration/bench sandbox/kubernetes",
	"k8s.io/apimachinery":                      "integration/bench sandbox/kubernetes",
	"k8s.io/client-go":                         "integration/bench sandbox/kubernetes",
	"modernc.org/sqlite":                       "integration/lab server/store",
	"mvdan.cc/sh/v3":                           "server/web skills/infer/shell",
	"oras.land/oras-go/v2":                     "skills/install/oci",
	"text/template":                            "integration/release server/web/markup", // there its parser
}
