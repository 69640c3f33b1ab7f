package git

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gitEnv is an environment without settings of the machine's users.
func gitEnv(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main"}
}

// An origin is a repository that tests fetch, below the folder of their servers.
type origin struct {
	t    testing.TB
	root string // of the servers
	dir  string // the bare repository
}

func newOrigin(t testing.TB, options ...string) *origin {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is missing: apt-get install git")
		}
		t.Skip("git is missing: apt-get install git")
	}
	root := t.TempDir()
	o := &origin{t: t, root: root, dir: filepath.Join(root, "x.git")}
	o.run("", append(append([]string{"init", "--quiet", "--bare"}, options...), o.dir)...)
	return o
}

// run runs git in the repository and returns its output.
func (o *origin) run(stdin string, args ...string) string {
	o.t.Helper()
	if args[0] != "init" {
		args = append([]string{"--git-dir=" + o.dir}, args...)
	}
	cmd := exec.Command("git", args...)
	cmd.Env = gitEnv(o.root)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		o.t.Fatalf("git %v: %v: %s", args, err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

func (o *origin) blob(content string) string {
	return o.run(content, "hash-object", "-w", "--stdin")
}

// tree writes a folder of entries "MODE NAME ID", with any names.
func (o *origin) tree(entries ...string) string {
	var raw bytes.Buffer
	for _, entry := range entries {
		mode, rest, _ := strings.Cut(entry, " ")
		at := strings.LastIndexByte(rest, ' ')
		id, err := hex.DecodeString(rest[at+1:])
		if err != nil {
			o.t.Fatal(err)
		}
		fmt.Fprintf(&raw, "%s %s\x00%s", mode, rest[:at], id)
	}
	return o.run(raw.String(), "hash-object", "-t", "tree", "--literally", "-w", "--stdin")
}

// commit makes a commit of a tree on a branch.
func (o *origin) commit(branch, tree string) string {
	args := []string{"commit-tree", tree, "-m", "x"}
	if parent := o.run("", "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch); parent != "" {
		args = append(args, "-p", parent)
	}
	id := o.run("", args...)
	o.run("", "update-ref", "refs/heads/"+branch, id)
	return id
}

// files commits files on a branch. A name may have the prefix "x:" for an executable
// file, and "l:" for a link.
func (o *origin) files(branch string, contents map[string]string) string {
	o.t.Helper()
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter a <a@example.com> %d +0000\ndata 1\nx\n", branch, 1_700_000_000+len(contents))
	if parent := o.run("", "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch); parent != "" {
		fmt.Fprintf(&stream, "from %s\ndeleteall\n", parent)
	}
	for name, content := range contents {
		mode := "100644"
		if rest, ok := strings.CutPrefix(name, "x:"); ok {
			mode, name = "100755", rest
		} else if rest, ok := strings.CutPrefix(name, "l:"); ok {
			mode, name = "120000", rest
		}
		fmt.Fprintf(&stream, "M %s inline %s\ndata %d\n%s\n", mode, name, len(content), content)
	}
	o.run(stream.String(), "fast-import", "--quiet", "--force")
	return o.run("", "rev-parse", "refs/heads/"+branch)
}

// daemon serves the repository with git daemon and returns its URL.
func (o *origin) daemon() string {
	o.t.Helper()
	for range 5 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			o.t.Fatal(err)
		}
		port := listener.Addr().(*net.TCPAddr).Port
		listener.Close()
		cmd := exec.CommandContext(o.t.Context(), "git", "daemon", "--reuseaddr", "--export-all", "--base-path="+o.root, "--listen=127.0.0.1", fmt.Sprintf("--port=%d", port))
		cmd.Env = gitEnv(o.root)
		ownGroup(cmd, false)
		if err := cmd.Start(); err != nil {
			o.t.Fatal(err)
		}
		o.t.Cleanup(func() {
			cmd.Cancel()
			cmd.Wait()
		})
		if reachable(fmt.Sprintf("127.0.0.1:%d", port)) {
			return fmt.Sprintf("git://127.0.0.1:%d/x.git", port)
		}
	}
	o.t.Fatal("git daemon does not listen")
	return ""
}

func reachable(address string) bool {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			conn.Close()
			return true
		}
	}
	return false
}

// backend serves the repository over HTTP with git's own program.
func (o *origin) backend() http.Handler {
	path := o.run("", "--exec-path")
	return &cgi.Handler{
		Path:       filepath.Join(path, "git-http-backend"),
		Env:        append(gitEnv(o.root), "GIT_PROJECT_ROOT="+o.root, "GIT_HTTP_EXPORT_ALL=1"),
		InheritEnv: []string{"PATH"}, Stderr: io.Discard, Logger: log.New(io.Discard, "", 0),
	}
}

// serve starts an HTTP server with a handler and returns the repository's URL.
func (o *origin) serve(handler http.Handler) string {
	server := httptest.NewServer(handler)
	o.t.Cleanup(server.Close)
	return server.URL + "/x.git"
}

// fetch fetches into a new quarantine and returns the files: their contents, with the
// prefixes of origin.files.
func fetch(t testing.TB, options *Options, r source.Request) (map[string]string, *source.Fetched, error) {
	t.Helper()
	return fetchLimited(t, options, r, nil)
}

func fetchLimited(t testing.TB, options *Options, r source.Request, limits *quarantine.Limits) (map[string]string, *source.Fetched, error) {
	t.Helper()
	into, err := quarantine.New(t.TempDir(), limits)
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	if options == nil {
		options = &Options{}
	}
	if options.Env == nil {
		options.Env = gitEnv(t.TempDir())
	}
	r.Source.Kind = source.Git
	fetched, err := New(options).Fetch(t.Context(), r, into)
	if left, _ := filepath.Glob(filepath.Join(into.Path(), ".fetch-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := into.Seal(); err != nil {
		return nil, nil, err
	}
	for _, left := range into.LeftOut() {
		return nil, nil, left
	}
	return contents(t, into.Path()), fetched, nil
}

func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		host := filepath.Join(dir, name)
		if e.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(host)
			found["l:"+name] = target
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode()&0o111 != 0 {
			name = "x:" + name
		}
		data, err := os.ReadFile(host)
		found[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func request(location string) source.Request {
	return source.Request{Source: source.Source{Location: location}, Named: true}
}
