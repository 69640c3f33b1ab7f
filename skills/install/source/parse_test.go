package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parsed are the forms that people write, the source each means, and the text that it is
// printed as. DIR is the folder that relative paths start from.
var parsed = []struct {
	group, text string
	want        Source
	printed     string // "" is text
}{
	{"folders", "./pdf", Source{Kind: Folder, Location: "DIR/pdf"}, "DIR/pdf"},
	{"folders", ".", Source{Kind: Folder, Location: "DIR"}, "DIR"},
	{"folders", "../other", Source{Kind: Folder, Location: "DIR/../other"}, "DIR/../other"},
	{"folders", "/srv/skills", Source{Kind: Folder, Location: "/srv/skills"}, ""},
	{"folders", "there", Source{Kind: Folder, Location: "DIR/there"}, "DIR/there"},
	{"folders", "./there/SKILL.md", Source{Kind: Folder, Location: "DIR/there"}, "DIR/there"},
	{"folders", "/srv/m/.claude-plugin/marketplace.json", Source{Kind: Folder, Location: "/srv/m"}, "/srv/m"},
	{"folders", "/srv/odd.zip/", Source{Kind: Folder, Location: "/srv/odd.zip"}, ""},
	{"folders", "./folder.skill", Source{Kind: Folder, Location: "DIR/folder.skill"}, "DIR/folder.skill/"},

	{"archives", "./pdf.zip", Source{Kind: Archive, Location: "DIR/pdf.zip"}, "DIR/pdf.zip"},
	{"archives", "pdf.SKILL", Source{Kind: Archive, Location: "DIR/pdf.SKILL"}, "DIR/pdf.SKILL"},
	{"archives", "dist/pdf.tar.gz", Source{Kind: Archive, Location: "DIR/dist/pdf.tar.gz"}, "DIR/dist/pdf.tar.gz"},
	{"archives", "/srv/a.tgz", Source{Kind: Archive, Location: "/srv/a.tgz"}, ""},

	{"the web", "https://example.com/pdf.zip", Source{Kind: URL, Location: "https://example.com/pdf.zip"}, ""},
	{"the web", "HTTPS://Example.com/pdf.zip", Source{Kind: URL, Location: "https://example.com/pdf.zip"}, "https://example.com/pdf.zip"},
	{"the web", "https://example.com/docs/skill.md", Source{Kind: URL, Location: "https://example.com/docs/skill.md"}, ""},
	{"the web", "https://example.com/marketplace.json", Source{Kind: URL, Location: "https://example.com/marketplace.json"}, ""},
	{"the web", "https://example.com/download?id=7", Source{Kind: URL, Location: "https://example.com/download?id=7"}, ""},
	{"the web", "http://127.0.0.1:8080/pdf.zip", Source{Kind: URL, Location: "http://127.0.0.1:8080/pdf.zip"}, ""},
	{"the web", "https://github.com/o/r/releases/download/v1/pdf.skill", Source{Kind: URL, Location: "https://github.com/o/r/releases/download/v1/pdf.skill"}, ""},
	{"the web", "https://github.com/o/r/archive/refs/tags/v1.tar.gz", Source{Kind: URL, Location: "https://github.com/o/r/archive/refs/tags/v1.tar.gz"}, ""},
	{"the web", "https://raw.githubusercontent.com/o/r/main/SKILL.md", Source{Kind: URL, Location: "https://raw.githubusercontent.com/o/r/main/SKILL.md"}, ""},

	{"discovery", "https://example.com", Source{Kind: Index, Location: "https://example.com"}, ""},
	{"discovery", "https://example.com:8443/", Source{Kind: Index, Location: "https://example.com:8443"}, "https://example.com:8443"},
	{"discovery", "http://localhost:8080", Source{Kind: Index, Location: "http://localhost:8080"}, ""},
	{"discovery", "https://example.com/.well-known/agent-skills", Source{Kind: Index, Location: "https://example.com/.well-known/agent-skills/index.json"}, "https://example.com/.well-known/agent-skills/index.json"},
	{"discovery", "https://hub.example/api/v1/agent-skills/o/s/index.json", Source{Kind: Index, Location: "https://hub.example/api/v1/agent-skills/o/s/index.json"}, ""},

	{"GitHub", "anthropics/skills", Source{Kind: Git, Location: "https://github.com/anthropics/skills.git"}, "github:anthropics/skills"},
	{"GitHub", "anthropics/skills/skills/pdf", Source{Kind: Git, Location: "https://github.com/anthropics/skills.git", Path: "skills/pdf"}, "github:anthropics/skills#:skills/pdf"},
	{"GitHub", "o/r@pdf", Source{Kind: Git, Location: "https://github.com/o/r.git", Name: "pdf"}, "github:o/r@pdf"},
	{"GitHub", "o/r@pdf#v1.2", Source{Kind: Git, Location: "https://github.com/o/r.git", Name: "pdf", Ref: "v1.2"}, "github:o/r@pdf#v1.2"},
	{"GitHub", "o/r#v1.2", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "v1.2"}, "github:o/r#v1.2"},
	{"GitHub", "o/r#@scope/pkg@1.0.0", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "@scope/pkg@1.0.0"}, "github:o/r#@scope/pkg@1.0.0"},
	{"GitHub", "o/r#feature/x:skills/pdf", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "feature/x", Path: "skills/pdf"}, "github:o/r#feature/x:skills/pdf"},
	{"GitHub", "o/r#:skills/pdf", Source{Kind: Git, Location: "https://github.com/o/r.git", Path: "skills/pdf"}, "github:o/r#:skills/pdf"},
	{"GitHub", "o/r/packages/@scope/pdf/SKILL.md", Source{Kind: Git, Location: "https://github.com/o/r.git", Path: "packages/@scope/pdf"}, "github:o/r#:packages/@scope/pdf"},
	{"GitHub", "github:o/.github", Source{Kind: Git, Location: "https://github.com/o/.github.git"}, ""},
	{"GitHub", "github.com/o/r", Source{Kind: Git, Location: "https://github.com/o/r.git"}, "github:o/r"},
	{"GitHub", "https://www.github.com/o/r.git", Source{Kind: Git, Location: "https://github.com/o/r.git"}, "github:o/r"},
	{"GitHub", "https://github.com/o/r/#v2", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "v2"}, "github:o/r#v2"},
	{"GitHub", "https://github.com/o/r?tab=readme-ov-file", Source{Kind: Git, Location: "https://github.com/o/r.git"}, "github:o/r"},
	{"GitHub", "https://github.com/o/r/tree/main", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "main"}, "github:o/r#main"},
	{"GitHub", "https://github.com/o/r/tree/main/skills/pdf", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "main", Path: "skills/pdf"}, "github:o/r#main:skills/pdf"},
	{"GitHub", "https://github.com/o/r/tree/feature%2Fx/skills", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "feature/x", Path: "skills"}, "github:o/r#feature/x:skills"},
	{"GitHub", "https://github.com/o/r/blob/main/skills/pdf/SKILL.md", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "main", Path: "skills/pdf"}, "github:o/r#main:skills/pdf"},
	{"GitHub", "https://github.com/o/r/blob/main/.claude-plugin/marketplace.json", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "main"}, "github:o/r#main"},
	{"GitHub", "https://github.com/o/r/commit/0123abc", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "0123abc"}, "github:o/r#0123abc"},
	{"GitHub", "https://github.com/o/r/releases/tag/v1", Source{Kind: Git, Location: "https://github.com/o/r.git", Ref: "v1"}, "github:o/r#v1"},
	{"GitHub", "https://gist.github.com/me/0123abc", Source{Kind: Git, Location: "https://gist.github.com/me/0123abc.git"}, "https://gist.github.com/me/0123abc.git"},

	{"GitLab", "gitlab:group/sub/repo", Source{Kind: Git, Location: "https://gitlab.com/group/sub/repo.git"}, ""},
	{"GitLab", "gitlab:g/r@pdf#v1:skills", Source{Kind: Git, Location: "https://gitlab.com/g/r.git", Name: "pdf", Ref: "v1", Path: "skills"}, ""},
	{"GitLab", "https://gitlab.com/g/sub/r/-/tree/main/skills/pdf", Source{Kind: Git, Location: "https://gitlab.com/g/sub/r.git", Ref: "main", Path: "skills/pdf"}, "gitlab:g/sub/r#main:skills/pdf"},
	{"GitLab", "https://git.example.com/g/r/-/blob/v1/pdf/SKILL.md?ref_type=tags", Source{Kind: Git, Location: "https://git.example.com/g/r.git", Ref: "v1", Path: "pdf"}, "https://git.example.com/g/r.git#v1:pdf"},
	{"GitLab", "https://git.example.com/g/r/-/tree/v1", Source{Kind: Git, Location: "https://git.example.com/g/r.git", Ref: "v1"}, "https://git.example.com/g/r.git#v1"},
	{"GitLab", "https://gitlab.com/g/r/-/archive/v1/r-v1.zip", Source{Kind: URL, Location: "https://gitlab.com/g/r/-/archive/v1/r-v1.zip"}, ""},

	{"other forges", "https://dev.azure.com/org/project/_git/repo", Source{Kind: Git, Location: "https://dev.azure.com/org/project/_git/repo"}, "git+https://dev.azure.com/org/project/_git/repo"},

	{"any Git server", "https://git.example.com/team/x.git", Source{Kind: Git, Location: "https://git.example.com/team/x.git"}, ""},
	{"any Git server", "https://git.example.com/team/x.git#v1:skills/pdf", Source{Kind: Git, Location: "https://git.example.com/team/x.git", Ref: "v1", Path: "skills/pdf"}, ""},
	{"any Git server", "git+https://git.example.com/team/x", Source{Kind: Git, Location: "https://git.example.com/team/x"}, ""},
	{"any Git server", "git+http://localhost:3000/x", Source{Kind: Git, Location: "http://localhost:3000/x"}, ""},
	{"any Git server", "git+ssh://git@example.com/x.git", Source{Kind: Git, Location: "ssh://git@example.com/x.git"}, "ssh://git@example.com/x.git"},
	{"any Git server", "ssh://git@example.com:2222/~/x#main", Source{Kind: Git, Location: "ssh://git@example.com:2222/~/x", Ref: "main"}, ""},
	{"any Git server", "git@github.com:o/r.git", Source{Kind: Git, Location: "git@github.com:o/r.git"}, ""},
	{"any Git server", "git@example.com:team/x#v1:pdf", Source{Kind: Git, Location: "git@example.com:team/x", Ref: "v1", Path: "pdf"}, ""},

	{"ClawHub", "clawhub:weather", Source{Kind: ClawHub, Name: "weather"}, ""},
	{"ClawHub", "clawhub:steipete/weather@1.2.0", Source{Kind: ClawHub, Name: "steipete/weather", Ref: "1.2.0"}, ""},
	{"ClawHub", "clawhub:@steipete/weather", Source{Kind: ClawHub, Name: "steipete/weather"}, "clawhub:steipete/weather"},
	{"ClawHub", "https://clawhub.ai/steipete/skills/weather", Source{Kind: ClawHub, Name: "steipete/weather"}, "clawhub:steipete/weather"},
	{"ClawHub", "clawhub.ai/skills/weather", Source{Kind: ClawHub, Name: "weather"}, "clawhub:weather"},
	{"ClawHub", "clawhub+https://hub.example.com/base/#o/s@2", Source{Kind: ClawHub, Location: "https://hub.example.com/base", Name: "o/s", Ref: "2"}, "clawhub+https://hub.example.com/base#o/s@2"},

	{"OCI", "oci://ghcr.io/org/pdf:1.0", Source{Kind: OCI, Location: "ghcr.io/org/pdf", Ref: "1.0"}, ""},
	{"OCI", "oci://localhost:5000/pdf", Source{Kind: OCI, Location: "localhost:5000/pdf"}, ""},
	{"OCI", "oci://ghcr.io/org/pdf:1.0@sha256:" + strings.Repeat("0a", 32), Source{Kind: OCI, Location: "ghcr.io/org/pdf", Ref: "sha256:" + strings.Repeat("0a", 32)}, "oci://ghcr.io/org/pdf@sha256:" + strings.Repeat("0a", 32)},
}

func TestParse(t *testing.T) {
	dir := testFolder(t)
	for _, test := range parsed {
		t.Run(test.group+"/"+test.text, func(t *testing.T) {
			got, err := Parse(test.text, dir)
			if err != nil {
				t.Fatal(err)
			}
			want := test.want
			want.Location = inFolder(want.Location, dir)
			if got != want {
				t.Errorf("Parse(%q) =\n%+v, want\n%+v", test.text, got, want)
			}
			printed := test.printed
			if printed == "" {
				printed = test.text
			}
			printed = inFolder(printed, dir)
			if got.String() != printed {
				t.Errorf("String() = %q, want %q", got.String(), printed)
			}
			again, err := Parse(got.String(), dir)
			if err != nil || again != got {
				t.Errorf("Parse(String()) = %+v, %v; want %+v", again, err, got)
			}
		})
	}
}

// testFolder returns a folder with the paths that the tests name as existing.
func testFolder(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "here")
	for _, folder := range []string{"there", "folder.skill", "skills/pdf"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "there", "SKILL.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func inFolder(text, dir string) string {
	if rest, ok := strings.CutPrefix(text, "DIR"); ok {
		text = filepath.Join(dir, rest)
		if strings.HasSuffix(rest, "/") {
			text += "/"
		}
	}
	return text
}

// unread are the texts that are not read, with a part of the error. Those with refused
// are not accepted from anybody.
var unread = []struct {
	text    string
	refused bool
	want    string
}{
	{"", false, "write owner/repo, a URL, or ./folder"},
	{"nowhere", false, "no such path exists; write owner/repo, a URL, ./folder or clawhub:nowhere"},
	{"skills/pdf", false, "write ./skills/pdf or github:skills/pdf"},
	{"~/skills", false, "the shell did not expand ~"},
	{"ghcr.io/org/pdf", false, "write https://ghcr.io/org/pdf or oci://ghcr.io/org/pdf"},
	{"o/r@v1.2.0", false, `write o/r#v1.2.0 for a branch, tag or commit`},
	{"o/r/a/../../b", false, "leads out of the source"},
	{"o/r#a b", false, "branch, tag or commit"},
	{"o/r#-x", false, "branch, tag or commit"},
	{"o/r/a#:b", false, "two folders"},
	{"gitub:o/r", false, "write owner/repo, https://"},
	{"mercurial://example.com/x", false, "write owner/repo, https://"},
	{"https:/example.com", false, "write https://host/path"},
	{"https://github.com/o/r/issues/7", false, "write the URL of the repository"},
	{"https://github.com/o/r/blob/main/tool.py", false, "write the URL of the repository"},
	{"https://codeberg.org/o/r/src/branch/main/skills", false, "write the URL of the repository"},
	{"https://bitbucket.org/o/r/src/main/skills/", false, "write the URL of the repository"},
	{"https://example.com/x.zip#v1", false, "write git+https:// for a Git repository"},
	{"https://git.example.com/x.git//sub", false, "as #:folder"},
	{"https://clawhub.ai/docs", false, "write clawhub:owner/slug"},
	{"clawhub:a b", false, "write clawhub:[owner/]slug[@version]"},
	{"clawhub:a@", false, "write a version"},
	{"npm:pdf-skill", true, "npm pack"},
	{"oci://ghcr.io/org/all:1#:skills/pdf", false, "write oci://registry/name:tag"},
	{"oci://ghcr.io", false, "write oci://registry/name:tag"},
	{"oci://ghcr.io/Org/pdf", false, "the name in lower case"},
	{"oci://ghcr.io/org/pdf@sha256:12", false, "write oci://registry/name:tag"},
	{"git+file:///srv/x.git", false, "by its path"},
	{"file:///srv/a.tgz", false, "by its path"},
	{"https://example.com/pdf.zip#:skills/pdf", false, "choose a skill with --skill"},
	{"https://аpple.com/x.zip", false, "the host in ASCII"},

	{"-x", true, "looks like an option"},
	{"--upload-pack=touch /tmp/x", true, "looks like an option"},
	{"ext::sh -c touch% /tmp/x", true, "makes Git start a program"},
	{"fd::17/x", true, "makes Git start a program"},
	{"https://me:hunter2@example.com/x.git", true, "credential helper"},
	{"https://ghp_hunter2@github.com/o/r", true, "credential helper"},
	{"git+https://hunter2@example.com/x", true, "credential helper"},
	{"ssh://git:hunter2@example.com/x", true, "credential helper"},
	{"https://me:hunter2%@example.com/x.git", true, "credential helper"},
	{"https://example.com/x.zip?access_token=hunter2", true, "download the file"},
	{"http://example.com/x.zip", true, "write https://example.com/x.zip"},
	{"git+http://example.com/x", true, "write https://"},
	{"git://127.0.0.1/x.git", true, "write https:// or ssh://"},
	{"o/r\x1b[2J", true, "invisible characters"},
	{"o/r\u202egnp", true, "invisible characters"},
	{"skills-sh:o/r/pdf", true, "install it from its repository: o/r@pdf"},
	{"https://skills.sh/o/r/pdf", true, "install it from its repository: o/r@pdf"},
}

func TestParseErrors(t *testing.T) {
	dir := testFolder(t)
	for _, test := range unread {
		t.Run(test.text, func(t *testing.T) {
			got, err := Parse(test.text, dir)
			if err == nil {
				t.Fatalf("Parse(%q) = %+v", test.text, got)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error %q does not say %q", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a credential: %s", err)
			}
			var refused *RefusedError
			if errors.As(err, &refused) != test.refused {
				t.Errorf("refused = %v, want %v: %s", !test.refused, test.refused, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, test := range parsed {
		f.Add(test.text)
	}
	for _, test := range unread {
		f.Add(test.text)
	}
	dir := testFolder(f)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text, dir)
		if err != nil {
			if s != (Source{}) {
				t.Errorf("Parse(%q) = %+v beside the error %s", text, s, err)
			}
			return
		}
		again, err := Parse(s.String(), dir)
		if err != nil || again != s {
			t.Errorf("Parse(%q) = %+v is printed %q, which is %+v, %v", text, s, s, again, err)
		}
		if strings.HasPrefix(s.Location, "-") || strings.HasPrefix(s.Ref, "-") || strings.Contains(s.Location, "::") && s.Kind == Git && !strings.Contains(s.Location, "[") {
			t.Errorf("Parse(%q) = %+v, which Git would act on", text, s)
		}
	})
}
