package main

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// simple returns figures without any variance.
func simple() Measured {
	return Measured{
		Machine: "a test's", Start: []float64{600}, StartRate: 5, Cores: 2, Room: 110, Load: []float64{50}, Call: []float64{20}, ServerCPU: 4,
		Remove: []float64{1000}, Requests: 12, APICPU: 10, Scheduled: 1000,
	}
}

func scenario() Scenario {
	return Scenario{Nodes: 1, Servers: 1, Slots: 64, Queue: 64, Pool: 8, Refills: 1, AheadRate: 5, Patience: 45, Seconds: 100, Seed: 7}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s is %.4g, want %.4g within %g %%", what, got, want, 100*tolerance)
	}
}

// Equal seeds give equal outcomes, and others do not.
func TestSeed(t *testing.T) {
	s := scenario()
	s.Rate = 4
	a, b := simulate(simple(), s), simulate(simple(), s)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v and %+v of one seed", a, b)
	}
	s.Seed++
	if c := simulate(simple(), s); reflect.DeepEqual(a, c) {
		t.Errorf("%+v of two seeds", a)
	}
}

// A client that rests finds a Pod each time: a call takes the measured time of a warm one.
func TestRest(t *testing.T) {
	s := scenario()
	s.Clients, s.Think = 1, 2
	o := simulate(simple(), s)
	near(t, "p50", o.P50, 20, 0.001)
	near(t, "calls/s", o.Rate, 1/2.02, 0.05)
	near(t, "requests/s", o.Requests, o.Rate*12, 0.05)
	if o.Warm != 1 || o.Busy != 0 {
		t.Errorf("%+v, want all warm", o)
	}
}

// A call that finds no Pod takes the measured start, load and call.
func TestCold(t *testing.T) {
	s := scenario()
	s.Clients, s.Think, s.Pool = 1, 5, 0
	o := simulate(simple(), s)
	near(t, "p50", o.P50, 600+50+20, 0.02)
	if o.Warm != 0 {
		t.Errorf("%+v, want none warm", o)
	}
}

// Ten times too many calls are answered at the rate of the resource that breaks first, and
// the others are refused.
func TestOverload(t *testing.T) {
	for first, change := range map[string]func(*Measured, *Scenario){
		"kubelets":      func(*Measured, *Scenario) {},
		"scheduler":     func(m *Measured, _ *Scenario) { m.Scheduled = 3 },
		"API server":    func(m *Measured, _ *Scenario) { m.APICPU = 500 },
		"servers' CPU":  func(m *Measured, _ *Scenario) { m.ServerCPU, m.Call = 600, []float64{600} },
		"slots":         func(_ *Measured, s *Scenario) { s.Slots, s.Work, s.Queue = 6, 3, 6 },
		"room on nodes": func(m *Measured, s *Scenario) { m.Room, s.Slots = 5, 200 },
	} {
		m, s := simple(), scenario()
		change(&m, &s)
		s.Seconds, s.Pool = 400, 0
		lowest := limits(m, s)[0]
		if lowest.Resource != first {
			t.Errorf("%s breaks first, want %s", lowest.Resource, first)
			continue
		}
		s.Rate = 10 * lowest.Rate
		o := simulate(m, s)
		if first == "slots" { // the calls' own time is not all that they are held for
			lowest.Rate = float64(s.Slots) / (3 + (600+50+20)/1000.0)
		}
		near(t, first+": calls/s", o.Rate, lowest.Rate, 0.06)
		near(t, first+": refused", o.Busy, 0.9, 0.03)
	}
}

// The wait at a station with random arrivals and equal work is that of the formula of
// Pollaczek and Khinchine.
func TestStation(t *testing.T) {
	c := &cluster{random: rand.New(rand.NewPCG(7, 1))}
	s := station{clock: &c.clock, workers: 1}
	const rate, work = 0.7, 1.0
	total, done := 0.0, 0
	var arrive func()
	arrive = func() {
		c.after(c.random.ExpFloat64()/rate, func() {
			began := c.now
			s.do(work, func() { total += c.now - began - work; done++ })
			arrive()
		})
	}
	arrive()
	c.run(400_000)
	near(t, "wait", total/float64(done), rate*work*work/2/(1-rate*work), 0.03)
	near(t, "use", s.busy/c.now, rate*work, 0.01)
}

// After a burst as many Pods wait as it took, and not more than the pool may have.
func TestBurst(t *testing.T) {
	c := &cluster{Measured: simple(), Scenario: scenario(), random: rand.New(rand.NewPCG(7, 1))}
	c.api, c.scheduler = station{clock: &c.clock, workers: 2}, station{clock: &c.clock, workers: 1}
	c.nodes = []*node{{kubelet: station{clock: &c.clock, workers: 2}}}
	for _, test := range []struct{ takes, want int }{{1, 1}, {5, 5}, {20, 8}} {
		v := c.newServer()
		for range test.takes {
			v.loaded.take(func(p *pod, _ bool) { p.remove() })
		}
		c.run(c.now + 60)
		if got := v.loaded.ready.len(); got != test.want {
			t.Errorf("%d wait after %d takes, want %d", got, test.takes, test.want)
		}
	}
}

// The program refuses figures that lack one, and prints all tables of others.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "measured.json")
	m := simple()
	m.Runs = []Run{{Clients: 2, Think: 1000, P50: 20, P95: 21, Rate: 1.9, Warm: 1}}
	for _, missing := range []bool{true, false} {
		if m.APICPU = 10; missing {
			m.APICPU = 0
		}
		text, err := json.Marshal(m)
		if err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := run([]string{"--measured", file, "--seconds", "1"}, &stdout, &stderr)
		if missing {
			if code != 1 || !strings.Contains(stderr.String(), "has no APICPU") {
				t.Errorf("exit code %d, %s", code, &stderr)
			}
			continue
		}
		if tables := strings.Count(stdout.String(), "\n\n"); code != 0 || tables != 4 {
			t.Errorf("exit code %d, %d tables: %s%s", code, tables, &stdout, &stderr)
		}
	}
}
