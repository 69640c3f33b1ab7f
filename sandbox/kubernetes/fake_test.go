package kubernetes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	gorilla "github.com/gorilla/websocket"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/sandboxtest"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// A fakeCluster is an API server whose Pods are shells made by hand: they answer lines
// without running anything, and count them.
type fakeCluster struct {
	*httptest.Server
	t    *testing.T
	stop chan struct{} // closed at the end of the test: ends what hangs

	mu       sync.Mutex
	version  int
	pods     map[string]*corev1.Pod
	leases   map[string]*coordinationv1.Lease
	watchers map[chan watch.Event]bool
	created  int
	lines    []string // that shells were sent whole
	folders  int      // that loaders were sent

	// before, if not nil, answers a request instead, where it returns true. It is called
	// without mu.
	before func(w http.ResponseWriter, r *http.Request) bool
	// state, if not nil, changes a Pod that is created.
	state func(pod *corev1.Pod)
	// cut cuts the next connection to a runner that is sent a line.
	cut cutting
}

// A cutting is a point in the course of a line.
type cutting int

const (
	cutNever cutting = iota
	cutBefore
	cutAfter // the command has run
	cutBegun // the command has begun, and its begin was told
)

func newFakeCluster(t *testing.T) *fakeCluster {
	f := &fakeCluster{t: t, stop: make(chan struct{}), pods: map[string]*corev1.Pod{}, leases: map[string]*coordinationv1.Lease{}, watchers: map[chan watch.Event]bool{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		close(f.stop)
		f.Server.Close()
	})
	return f
}

// driver returns a driver of the cluster that is closed with the test.
func (f *fakeCluster) driver(t *testing.T, change func(*Options)) *Driver {
	t.Helper()
	o := f.options()
	if change != nil {
		change(o)
	}
	d := New(o)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

func (f *fakeCluster) options() *Options {
	return &Options{Config: &rest.Config{Host: f.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, Namespace: "ns", Open: true, Images: map[string]string{"default": "base", "other": "other"}}
}

// fakeCommand returns a command that f's shells answer with its arguments.
func fakeCommand(t *testing.T, argv ...string) *sandbox.Command {
	return &sandbox.Command{
		RunID: "run", Skill: "skill", Argv: argv, Folder: sandboxtest.Folder(t, map[string]string{"SKILL.md": "skill\n"}),
		Limits: sandbox.DefaultLimits(), Warm: -1,
	}
}

func (f *fakeCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	before := f.before
	f.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/api/v1/nodes":
		f.refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "nodes is forbidden")
	case strings.HasPrefix(r.URL.Path, "/apis/coordination.k8s.io/v1/namespaces/ns/leases"):
		f.serveLeases(w, r, strings.Join(parts[6:], ""))
	case len(parts) == 5 && r.URL.Query().Get("watch") != "":
		f.serveWatch(w, r)
	case len(parts) == 5:
		f.servePods(w, r)
	case len(parts) == 6 && r.Method == http.MethodDelete:
		f.remove(w, parts[5])
	case len(parts) == 7:
		f.serveStream(w, r, parts[5], parts[6])
	default:
		f.t.Errorf("unexpected request %s %s", r.Method, r.URL)
	}
}

func (f *fakeCluster) refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(&metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: reason, Message: message, Code: int32(code)})
}

func (f *fakeCluster) answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object)
}

func (f *fakeCluster) serveLeases(w http.ResponseWriter, r *http.Request, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lease := f.leases[name]
	switch {
	case r.Method == http.MethodGet && name == "":
		list := &coordinationv1.LeaseList{TypeMeta: metav1.TypeMeta{Kind: "LeaseList", APIVersion: "coordination.k8s.io/v1"}}
		for _, l := range f.leases {
			list.Items = append(list.Items, *l)
		}
		f.answer(w, list)
	case r.Method == http.MethodPost:
		lease = &coordinationv1.Lease{}
		_ = json.NewDecoder(r.Body).Decode(lease)
		f.leases[lease.Name] = lease
		f.answer(w, lease)
	case lease == nil:
		f.refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "no such lease")
	case r.Method == http.MethodDelete:
		delete(f.leases, name)
		f.answer(w, &metav1.Status{Status: metav1.StatusSuccess})
	default:
		now := metav1.NowMicro()
		lease.Spec.RenewTime = &now
		f.answer(w, lease)
	}
}

func (f *fakeCluster) servePods(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Method == http.MethodGet {
		list := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(f.version)}}
		for _, p := range f.pods {
			if matches(p, r) {
				list.Items = append(list.Items, *p)
			}
		}
		f.answer(w, list)
		return
	}
	pod := &corev1.Pod{}
	if err := json.NewDecoder(r.Body).Decode(pod); err != nil {
		f.t.Error(err)
	}
	pod.Kind, pod.APIVersion = "Pod", "v1"
	pod.Status.Phase = corev1.PodRunning
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	}
	if f.state != nil {
		f.state(pod)
	}
	f.created++
	f.put(watch.Added, pod)
	f.answer(w, pod)
}

// matches reports whether a request's selector selects a Pod.
func matches(p *corev1.Pod, r *http.Request) bool {
	key, value, equals := strings.Cut(r.URL.Query().Get("labelSelector"), "=")
	got, has := p.Labels[key]
	return has && (!equals || got == value)
}

// put notes a Pod, or its removal, and tells the watchers.
func (f *fakeCluster) put(kind watch.EventType, pod *corev1.Pod) {
	f.version++
	pod = pod.DeepCopy()
	pod.ResourceVersion = fmt.Sprint(f.version)
	f.pods[pod.Name] = pod
	if kind == watch.Deleted {
		delete(f.pods, pod.Name)
	}
	for watcher := range f.watchers {
		watcher <- watch.Event{Type: kind, Object: pod}
	}
}

func (f *fakeCluster) remove(w http.ResponseWriter, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pod := f.pods[name]
	if pod == nil {
		f.refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "no such pod")
		return
	}
	f.put(watch.Deleted, pod)
	f.answer(w, pod)
}

// end ends the runner of a Pod with a code.
func (f *fakeCluster) end(name string, code int32, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pod := f.pods[name]
	if pod == nil {
		return
	}
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses[1].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
	f.put(watch.Modified, pod)
}

func (f *fakeCluster) serveWatch(w http.ResponseWriter, r *http.Request) {
	events := make(chan watch.Event, 1000)
	f.mu.Lock()
	f.watchers[events] = true
	for _, p := range f.pods { // as events since the list
		events <- watch.Event{Type: watch.Modified, Object: p}
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers, events)
	}()
	w.Header().Set("Content-Type", "application/json")
	w.(http.Flusher).Flush()
	for {
		select {
		case e := <-events:
			if !matches(e.Object.(*corev1.Pod), r) {
				continue
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"type": e.Type, "object": e.Object})
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		case <-f.stop:
			return
		}
	}
}

// nonceOf finds the nonce of a line.
var nonceOf = regexp.MustCompile(`skills_mcp_begin (\S+);`)

func (f *fakeCluster) serveStream(w http.ResponseWriter, r *http.Request, pod, kind string) {
	upgrader := gorilla.Upgrader{Subprotocols: []string{remotecommand.StreamProtocolV5Name}}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		f.t.Error(err)
		return
	}
	defer ws.Close()
	say := func(stream byte, text string) {
		_ = ws.WriteMessage(gorilla.BinaryMessage, append([]byte{stream}, text...))
	}
	done := func() { say(remotecommand.StreamErr, `{"status":"Success"}`) }
	if kind == "exec" {
		done()
		return
	}
	if r.URL.Query().Get("container") == loader {
		var archive bytes.Buffer
		for {
			_, message, err := ws.ReadMessage()
			if err != nil {
				return
			}
			if message[0] == remotecommand.StreamClose {
				break
			}
			archive.Write(message[1:])
		}
		line, _, _ := strings.Cut(archive.String(), "\n")
		f.mu.Lock()
		f.folders++
		f.mu.Unlock()
		say(remotecommand.StreamStdOut, line)
		done()
		return
	}
	f.serveShell(ws, say, pod)
	_, _, _ = ws.ReadMessage() // until the driver closes it
}

func (f *fakeCluster) serveShell(ws *gorilla.Conn, say func(byte, string), pod string) {
	for {
		_, message, err := ws.ReadMessage()
		if err != nil {
			f.end(pod, shellproto.Unread, "Error")
			return
		}
		line := string(message[1:])
		if line == "\n" {
			say(remotecommand.StreamStdOut, string(shellproto.Ready))
			continue
		}
		f.mu.Lock()
		cut := f.cut
		f.cut = cutNever
		if cut != cutBefore {
			f.lines = append(f.lines, line)
		}
		f.mu.Unlock()
		nonce := nonceOf.FindStringSubmatch(line)
		switch cut {
		case cutBefore:
			ws.Close()
			continue
		case cutBegun:
			say(remotecommand.StreamStdOut, nonce[1]+"+")
			fallthrough
		case cutAfter:
			ws.Close()
			f.end(pod, 0, "Completed")
			return
		}
		say(remotecommand.StreamStdOut, nonce[1]+"+out")
		say(remotecommand.StreamStdErr, "err"+nonce[1]+".")
		say(remotecommand.StreamStdOut, nonce[1]+".0 0 0\n")
		f.end(pod, 0, "Completed")
		say(remotecommand.StreamErr, `{"status":"Success"}`)
		return
	}
}

// count returns how many Pods were created, and how many lines and folders sent.
func (f *fakeCluster) count() (created, lines, folders int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.created, len(f.lines), f.folders
}

// eventually fails the test where a condition does not come true.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
