package dependencies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describe returns a launch in one line: kind, packages, the program, its arguments, and the
// version of Python.
func describe(l *Launch) string {
	text := fmt.Sprintf("%s %s: %s", l.Kind, strings.Join(l.Packages, " "), l.Program)
	if l.Program == "" {
		text += "the program of " + l.Package
	}
	for _, file := range l.Lock {
		if file.Name == "requires-python" {
			text += " with Python " + strings.TrimSpace(string(file.Data))
		}
	}
	return strings.TrimSuffix(text+" "+strings.Join(l.Args, " "), " ")
}

// The shapes come from public configurations of MCP clients.
func TestParseLaunch(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-memory":                                  "node @modelcontextprotocol/server-memory@latest: the program of @modelcontextprotocol/server-memory",
		"npx -y @modelcontextprotocol/server-filesystem /a /b":                        "node @modelcontextprotocol/server-filesystem@latest: the program of @modelcontextprotocol/server-filesystem /a /b",
		"npx @eslint/mcp@latest":                                                      "node @eslint/mcp@latest: the program of @eslint/mcp",
		"npx -y server@1.2.3 --yes -- -y":                                             "node server@1.2.3: the program of server --yes -- -y",
		"npx -y -- server@^1 --port=8":                                                "node server@^1: the program of server --port=8",
		"/usr/bin/npx --yes --package=@a/b@2 --package c run it":                      "node @a/b@2 c@latest: run it",
		"npx -p tsx tsx ${CLAUDE_PLUGIN_ROOT}/server.ts":                              "node tsx@latest: tsx ${CLAUDE_PLUGIN_ROOT}/server.ts",
		"npx -y mcp-remote https://mcp.example.com/sse --header Authorization:${KEY}": "node mcp-remote@latest: the program of mcp-remote https://mcp.example.com/sse --header Authorization:${KEY}",
		"npx --force -y @upstash/context7-mcp":                                        "node @upstash/context7-mcp@latest: the program of @upstash/context7-mcp",
		"cmd /c npx -y @upstash/context7-mcp":                                         "node @upstash/context7-mcp@latest: the program of @upstash/context7-mcp",
		"CMD.EXE /C npx --yes a":                                                      "node a@latest: the program of a",
		"npm exec -y a -- --flag b":                                                   "node a@latest: the program of a --flag b",
		"npm exec --yes -- a@1 -y":                                                    "node a@1: the program of a -y",
		"npm x a --yes b":                                                             "node a@latest: the program of a b",
		"pnpm dlx a@next x":                                                           "node a@next: the program of a x",
		"pnpx a":                                                                      "node a@latest: the program of a",
		"yarn dlx -q -p a b":                                                          "node a@latest: b",
		"bunx -y @a/b":                                                                "node @a/b@latest: the program of @a/b",
		"bun x a":                                                                     "node a@latest: the program of a",
		"uvx mcp-server-time --local-timezone=Europe/Berlin":                          "python mcp-server-time: mcp-server-time --local-timezone=Europe/Berlin",
		"uvx mcp-atlassian==0.21.0":                                                   "python mcp-atlassian==0.21.0: mcp-atlassian",
		"uvx data-go-mcp.nts@latest":                                                  "python data-go-mcp.nts: data-go-mcp.nts",
		"uvx ruff@0.6.0 check":                                                        "python ruff==0.6.0: ruff check",
		"uvx mcp[cli]>=1,<2 run":                                                      "python mcp[cli]>=1,<2: mcp run",
		"uvx --from zlxmcp zlx-mcp-server":                                            "python zlxmcp: zlx-mcp-server",
		"uvx --with pillow --with mcp[cli] fastmcp run /skill/a.py":                   "python fastmcp pillow mcp[cli]: fastmcp run /skill/a.py",
		"uvx --from=a[x]@1.2 --python 3.12 b":                                         "python a[x]==1.2: b with Python ==3.12.*",
		"uvx -p >=3.11 a":                                                             "python a: a with Python >=3.11",
		"uvx --python python3 a":                                                      "python a: a with Python ==3.*",
		"uv tool run --quiet a b":                                                     "python a: a b",
		"pipx run --spec a==1 b c":                                                    "python a==1: b c",
		"pipx run a":                                                                  "python a: a",

		"node server.js": "", "npx-of-mine a": "", "uv run server.py": "", "npm run start": "", "npm": "", "pnpm --silent dlx a": "", "bun server.ts": "", "docker run a": "",

		"npx":                            "npx: it names nothing to start; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE",
		"npx -y":                         "npx: it names nothing to start; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE",
		"uvx --from a":                   "uvx: it names nothing to start; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE",
		"npx -y --package":               "npx: the option --package has no value; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE",
		"npx --package= a":               "npx: the option --package has no value; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE",
		"npx -c echo":                    `npx: the option "-c" is not taken; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE`,
		"npx --registry=https://r a":     `npx: the option "--registry=https://r" is not taken; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE`,
		"npm exec a --flag":              `npm exec: the option "--flag" is not taken; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE`,
		"uvx --index-url https://i a":    `uvx: the option "--index-url" is not taken; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE`,
		"uvx --python pypy a":            `uvx: --python "pypy" is no version; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE`,
		"npx -p a ./b":                   `npx: "./b" is no program of a package; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE`,
		"npx -p a ${B}":                  `npx: "${B}" is no program of a package; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE`,
		"pipx run --spec a --spec b c":   "pipx run: it names two packages, or two versions of Python; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE",
		"npx -y github:a/b":              `npx: "github:a/b" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"npx -y a/b":                     `npx: "a/b" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"npx -y git+https://h/a.git#v1":  `npx: "git+https://h/a.git#v1" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"npx -y https://h/a.tgz":         `npx: "https://h/a.tgz" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"npx -y ./server":                `npx: "./server" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"npx ${CLAUDE_PLUGIN_ROOT}":      `npx: "${CLAUDE_PLUGIN_ROOT}" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"npx a@npm:b@1":                  `npx: "a@npm:b@1" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"npx a@":                         `npx: "a@" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"npx -p a -p a@2 b":              `npx: "a@2" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"uvx --from git+https://h/a a":   `uvx: "git+https://h/a" is not taken: only names of packages are, with versions, markers and hashes; name the package as the package index does`,
		"uvx git+ssh://git@h/a@v1":       `uvx: "git+ssh://git@h/a@v1" is not taken: only names of packages are, with versions, markers and hashes; name the package as the package index does`,
		"uvx --from ./a b":               `uvx: "./a" is not taken: only names of packages are, with versions, markers and hashes; name the package as the package index does`,
		"uvx --with a,b c":               `uvx: "a,b" is not taken: only names of packages are, with versions, markers and hashes; name the package as the package index does`,
		"uvx --with-editable . c":        `uvx: the option "--with-editable" is not taken; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE`,
		"uvx --prerelease=allow --pre a": `uvx: the option "--prerelease=allow" is not taken; start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE`,
	} {
		l, err := ParseLaunch(strings.Fields(line))
		got := ""
		if err != nil {
			got = err.Error()
		} else if l != nil {
			got = describe(l)
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
	if l, err := ParseLaunch(nil); l != nil || err != nil {
		t.Errorf("%v, %v", l, err)
	}
}

// The digest is of what is installed, and not of the launcher, the program and its arguments.
func TestLaunchDigest(t *testing.T) {
	digest := func(line string) string {
		l, err := ParseLaunch(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		return l.Digest
	}
	for _, lines := range [][2]string{{"npx -y a@1 x", "bunx a@1 y"}, {"npx a", "npx a@latest"}, {"npx -p b -p a c", "npx -p a -p b d"}, {"uvx a", "uvx --from a b"}} {
		if digest(lines[0]) != digest(lines[1]) {
			t.Errorf("%q differ", lines)
		}
	}
	for _, lines := range [][2]string{{"npx a@1", "npx a@2"}, {"npx a", "uvx a"}, {"uvx a", "uvx --with b a"}, {"uvx a", "uvx --python 3.12 a"}} {
		if digest(lines[0]) == digest(lines[1]) {
			t.Errorf("%q are the same", lines)
		}
	}
}

// An installer gets names and versions of a registry alone, and a program is one name.
func FuzzParseLaunch(f *testing.F) {
	for _, line := range []string{"npx\x00-y\x00@a/b@1\x00x", "uvx\x00--from\x00a[b]==1\x00--python\x003.12\x00c", "cmd\x00/c\x00npm\x00exec\x00--package=a\x00--\x00b", "pipx\x00run\x00git+https://h/a", "npx\x00-p\x00a\x00..", "uvx\x00a\n--index-url=b"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		argv := strings.Split(line, "\x00")
		given := slices.Clone(argv)
		l, err := ParseLaunch(argv)
		if !slices.Equal(argv, given) {
			t.Errorf("%q was changed to %q", given, argv)
		}
		if l == nil || err != nil {
			return
		}
		if len(l.Packages) == 0 || l.Program == "" && l.Package == "" || strings.ContainsAny(l.Program, "/$\x00") || len(l.Args) >= len(argv) {
			t.Errorf("%q: %+v", argv, l)
		}
		for _, p := range l.Packages {
			if strings.HasPrefix(p, "-") || strings.ContainsAny(p, ":\n\r\x00$") || l.Kind == Node && strings.Count(p, "/") > 1 || l.Kind == Python && strings.Contains(p, "/") {
				t.Errorf("%q installs %q", argv, p)
			}
		}
	})
}
