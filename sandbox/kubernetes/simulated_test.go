package kubernetes

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
)

// TestSimulated has the pool of blank Pods work on simulated nodes: a real API server and
// scheduler, and Pods that run at once without a process. It logs how fast the pool
// fills, how many Pods a second callers claim, and what that costs the API server:
//
//	integration/cluster/cluster --name kwok kwok 100
//	SKILLS_MCP_TEST_SIMULATED=~/.cache/skills-mcp-test/cluster/kwok/admin.kubeconfig go test ./sandbox/kubernetes -run TestSimulated -v
func TestSimulated(t *testing.T) {
	kubeconfig := os.Getenv("SKILLS_MCP_TEST_SIMULATED")
	if kubeconfig == "" {
		t.Skip("SKIPPED: SKILLS_MCP_TEST_SIMULATED names no cluster with simulated nodes")
	}
	const namespace, seconds = "simulated", 12
	var found, all atomic.Int64
	d := New(&Options{
		Images: map[string]string{"default": "simulated"}, Kubeconfig: kubeconfig, Namespace: namespace,
		NodeSelector: map[string]string{"type": "kwok"}, Tolerations: []Toleration{{Key: "kwok.x-k8s.io/node", Operator: "Exists", Effect: "NoSchedule"}},
		StartRate: 1000,
	})
	starter, err := d.connect()
	if err != nil {
		t.Fatal(err)
	}
	c := starter.cluster
	_, _ = c.core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}) // it may be there
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	nodes, err := c.core.Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "type=kwok"})
	if err != nil {
		t.Fatal(err)
	}
	want := 5 * len(nodes.Items)
	pool := warmpool.New[*blank](&warmpool.Limits{Max: want, Taken: func(waited bool) {
		all.Add(1)
		if waited {
			found.Add(1)
		}
	}})
	defer func() { pool.Close(); pool.Wait() }()
	s, err := newSpec(t.Context(), c, &d.options, &sandbox.Command{Skill: "skill", Argv: []string{"true"}, Folder: t.TempDir(), Limits: sandbox.DefaultLimits()}, "default", "simulated")
	if err != nil {
		t.Fatal(err)
	}
	spec := &warmpool.Spec[*blank]{Key: s.key, Group: "default", Version: "simulated", Start: func(ctx context.Context, ended func(*blank)) (*blank, error) {
		return starter.start(ctx, s, ended)
	}}

	before, began := loadOf(t, c), time.Now()
	pool.Prepare(spec, want)
	for time.Since(began) < seconds*time.Second && c.running(t) < want {
		time.Sleep(100 * time.Millisecond)
	}
	filled := c.running(t)
	if filled == 0 {
		t.Fatal("no simulated Pod runs")
	}
	report := func(what string, pods float64) {
		spent, after := time.Since(began).Seconds(), loadOf(t, c)
		l := [3]float64{after[0] - before[0], after[1] - before[1], after[2] - before[2]}
		t.Logf("%d simulated nodes, %s: %.1f Pods/s, for each of which the API server had %.1f requests, sent %.1f events to watchers, and used %.1f ms of a processor (%.0f requests/s and %.2f processors)",
			len(nodes.Items), what, pods/spent, l[0]/pods, l[1]/pods, 1000*l[2]/pods, l[0]/spent, l[2]/spent)
	}
	report("filling a pool, one Pod at a time", float64(filled))

	for _, callers := range []int{1, 64} {
		before, began = loadOf(t, c), time.Now()
		found.Store(0)
		all.Store(0)
		var times []float64
		var mu sync.Mutex
		var working sync.WaitGroup
		for range callers {
			working.Go(func() {
				for time.Since(began) < seconds*time.Second {
					asked := time.Now()
					b, err := pool.Take(t.Context(), spec, want)
					if err != nil {
						t.Error(err)
						return
					}
					b.Discard()
					mu.Lock()
					times = append(times, time.Since(asked).Seconds()*1000)
					mu.Unlock()
				}
			})
		}
		working.Wait()
		report(strconv.Itoa(callers)+" callers", float64(all.Load()))
		slices.Sort(times)
		if len(times) > 0 {
			t.Logf("%d simulated nodes, %d callers: %d claims, %.0f %% of which found a Pod; p50 %.0f ms, p95 %.0f ms", len(nodes.Items), callers, all.Load(), 100*float64(found.Load())/float64(all.Load()), times[len(times)/2], times[len(times)*95/100])
		}
	}
}

// running returns how many Pods of the namespace run.
func (c *cluster) running(t *testing.T) int {
	list, err := c.api().List(t.Context(), metav1.ListOptions{FieldSelector: "status.phase=Running"})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

var apiMetrics = regexp.MustCompile(`(?m)^(apiserver_request_total|apiserver_watch_events_total|process_cpu_seconds_total)(?:\{.*\})? ([0-9.e+]+)$`)

// loadOf returns what the API server has done: requests, events to watchers, and seconds of
// processor time.
func loadOf(t *testing.T, c *cluster) (l [3]float64) {
	text, err := c.core.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range apiMetrics.FindAllSubmatch(text, -1) {
		value, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			t.Fatal(err)
		}
		l[slices.Index([]string{"apiserver_request_total", "apiserver_watch_events_total", "process_cpu_seconds_total"}, string(m[1]))] += value
	}
	return l
}
