package skillshost

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// object is a JSON object.
type object = map[string]any

// A fake is an MCP server over HTTP whose replies a test makes.
type fake struct {
	*httptest.Server
	files map[string]string // by URI
	// reply returns the result of a request; nil is that of an honest server.
	reply func(method string, params object) any
	// legacy is of revision 2025-06-18, others of 2026-07-28 alone; mute declares no
	// extension.
	legacy, mute bool
	notices      chan struct{} // each is a notice for one listener

	mu    sync.Mutex
	asked []string // methods, with the URI
}

// newFake starts a server with the skills of files, by URI.
func newFake(t *testing.T, files map[string]string) *fake {
	f := &fake{files: files, notices: make(chan struct{})}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// skill returns the text of a SKILL.md.
func skill(name, body string) string {
	return "---\nname: " + name + "\ndescription: The skill " + name + "\n---\n" + body
}

func (f *fake) address() Address { return Address{URL: f.URL + "/mcp"} }

// requests returns the requests so far, of a method if it is given.
func (f *fake) requests(method string) (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.asked {
		if strings.HasPrefix(r, method) {
			all = append(all, r)
		}
	}
	return all
}

// ServeHTTP implements http.Handler.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		ID     any    `json:"id"`
		Method string `json:"method"`
		Params object `json:"params"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&request) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if fault := f.headers(r, request.Method, request.Params); fault != "" {
		http.Error(w, fault, http.StatusBadRequest)
		return
	}
	uri, _ := request.Params["uri"].(string)
	f.mu.Lock()
	f.asked = append(f.asked, strings.TrimSpace(request.Method+" "+uri))
	f.mu.Unlock()
	if request.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if request.Method == "subscriptions/listen" && !f.legacy {
		f.listen(w, r)
		return
	}
	reply := object{"jsonrpc": "2.0", "id": request.ID}
	if result := f.result(request.Method, request.Params); result != nil {
		reply["result"] = result
	} else {
		reply["error"] = object{"code": -32601, "message": "no such method"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}

// headers returns the fault of a request's headers, as a strict server finds it.
func (f *fake) headers(r *http.Request, method string, params object) string {
	version, want := r.Header.Get("MCP-Protocol-Version"), "2025-06-18"
	if !f.legacy {
		meta, _ := params["_meta"].(object)
		want, _ = meta["io.modelcontextprotocol/protocolVersion"].(string)
		if r.Header.Get("Mcp-Method") != method {
			return "the header Mcp-Method is not the method"
		}
	}
	if version != want && method != "initialize" && (method != "server/discover" || !f.legacy) {
		return fmt.Sprintf("%s: the header MCP-Protocol-Version is %q, want %q", method, version, want)
	}
	return ""
}

// listen sends the notices that a test gives.
func (f *fake) listen(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		w.(http.Flusher).Flush()
		select {
		case <-f.notices:
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}\n\n")
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fake) result(method string, params object) any {
	if f.reply != nil {
		if result := f.reply(method, params); result != nil {
			return result
		}
	}
	return f.honest(method, params)
}

// honest returns the result of an honest server.
func (f *fake) honest(method string, params object) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	uri, _ := params["uri"].(string)
	capabilities := object{"resources": object{}, "extensions": object{extension: object{}}}
	if f.mute {
		capabilities = object{}
	}
	switch method {
	case "server/discover":
		if f.legacy {
			return nil
		}
		return object{"resultType": "complete", "supportedVersions": []string{"2026-07-28"}, "capabilities": capabilities}
	case "initialize":
		if !f.legacy {
			return nil
		}
		return object{"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": object{"name": "fake", "version": "1"}}
	case "skills/list":
		var all []object
		for uri := range f.files {
			if strings.HasSuffix(uri, "/SKILL.md") {
				all = append(all, f.entry(uri))
			}
		}
		return object{"resultType": "complete", "ttlMs": 60000, "skills": all}
	case "skills/get":
		return object{"resultType": "complete", "skill": f.entry(uri)}
	case "resources/read":
		return object{"resultType": "complete", "contents": []object{{"uri": uri, "text": f.files[uri]}}}
	}
	return nil
}

// entry returns the true entry of a skill.
func (f *fake) entry(uri string) object {
	base := strings.TrimSuffix(uri, "SKILL.md")
	var resources []object
	for name, text := range f.files {
		if strings.HasPrefix(name, base) {
			resources = append(resources, resource(name, text))
		}
	}
	name := filepath.Base(base)
	return object{"uri": uri, "frontmatter": object{"name": name, "description": "The skill " + name}, "resources": resources}
}

func resource(uri, text string) object {
	sum := sha256.Sum256([]byte(text))
	return object{"uri": uri, "digest": "sha256:" + hex.EncodeToString(sum[:]), "size": len(text)}
}

// connect returns a session with the server.
func (f *fake) connect(t *testing.T, options *Options) *Session {
	t.Helper()
	s, err := Connect(t.Context(), f.address(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// newHost returns a host without servers.
func newHost(t *testing.T) *Host {
	dir := t.TempDir()
	s := store.New(filepath.Join(dir, "skills-mcp.db"), nil)
	t.Cleanup(func() { must(t, s.Close()) })
	return New(filepath.Join(dir, "mcp"), s, seal.New(filepath.Join(dir, "key"), nil), nil)
}

// fetchAll fetches a skill and returns its files by path.
func fetchAll(t *testing.T, s *Session, e *Entry) (map[string]string, error) {
	got := map[string]string{}
	err := s.Fetch(t.Context(), e, func(r Resource, data []byte) error {
		got[r.name] = string(data)
		return nil
	})
	return got, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants reports an error that does not say what it should; "" is none.
func wants(t *testing.T, err error, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
		t.Errorf("error %v, want %q", err, text)
	}
}

// pageOf returns a page of skills/list.
func pageOf(next string, entries ...any) object {
	return object{"resultType": "complete", "skills": entries, "nextCursor": next}
}

func names(n int) (all []any) {
	for i := range n {
		all = append(all, object{"uri": fmt.Sprintf("skill://s%d/SKILL.md", i), "frontmatter": object{}})
	}
	return all
}
