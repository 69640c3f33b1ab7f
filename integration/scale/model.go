package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Measured holds the figures of a real cluster that the model is made of, as "bench
// kubernetes --measured FILE" writes them. Times are in milliseconds; lists are samples.
type Measured struct {
	Machine string
	// Start is from the request for a Pod of the driver's kind until it is seen running,
	// one at a time. StartRate is the largest number of them that a node starts and removes a
	// second, on Cores processors.
	Start     []float64
	StartRate float64
	Cores     int
	// Room is the number of the driver's Pods that fit on a node by their requests.
	Room int
	// Load is the time by which the first call of a new small skill is slower than the next.
	Load []float64
	// Call is a warm call through the server, and ServerCPU the server's processor time
	// for it.
	Call      []float64
	ServerCPU float64
	// Remove is from the request to remove a Pod until it is gone.
	Remove []float64
	// Requests is the number of API requests for each Pod, and APICPU the API server's
	// processor time for them.
	Requests, APICPU float64
	// Scheduled is the largest number of Pods that the scheduler binds a second.
	Scheduled float64
	// Runs were measured with a real server, to compare the model with.
	Runs []Run
}

// A Run is a number of clients that each make one call after the other, with a pause of
// Think milliseconds between.
type Run struct {
	Clients  int
	Think    float64
	P50, P95 float64 // ms
	Rate     float64 // calls a second
	Warm     float64 // the share of calls that found a Pod waiting
}

// A Scenario is one load on one cluster.
type Scenario struct {
	Rate    float64 // calls a second, at random times; or 0, and
	Clients int     // so many clients, each with
	Think   float64 // a pause of so many seconds before each call
	Work    float64 // seconds that a skill itself takes in the mean, beyond a script of one line

	Nodes        int
	Servers      int     // each with pools of its own
	Slots, Queue int     // calls of a server that run, and that wait for a slot
	Pool         int     // most Pods that wait, loaded and blank each
	Refills      int     // of a pool, at the same time
	AheadRate    float64 // Pods a second that a server starts ahead of calls
	Patience     float64 // seconds that a call waits for a Pod at most

	Seconds float64 // of the run, after a fifth of it that does not count
	Seed    uint64
}

// An Outcome is the result of a scenario.
type Outcome struct {
	P50, P95 float64 // ms
	Rate     float64 // calls answered with their result, a second
	Warm     float64 // the share of them that found a Pod waiting
	Busy     float64 // the share of all calls that were refused
	Requests float64 // to the API server, a second
	Uses     []Use   // of the resources, the most used first
}

// A Use is the mean utilization of a resource, from 0 to 1.
type Use struct {
	Resource string
	Share    float64
}

// A cluster is the state of a run. Pods of nodes are counted from their start to their
// removal.
type cluster struct {
	clock
	Measured
	Scenario
	random    *rand.Rand
	api       station // processor time of the API server
	scheduler station // turns of the scheduler
	nodes     []*node
	noRoom    queue[func()] // Pods that no node has room for
	servers   []*server
	counted   bool // the warm-up is over
	times     []float64
	warm      int
	refused   int
	pods      float64 // Pod seconds on nodes, up to podsAt
	podsAt    float64
	podsNow   int
}

type node struct {
	kubelet station
	pods    int
}

// A server runs calls in slots, with Pods of its pools.
type server struct {
	*cluster
	cpu           station
	running       int
	slotTime      float64
	held          queue[func()] // calls without a slot
	loaded, blank *pool
	turn          float64 // when the next Pod may be started ahead of calls
}

// simulate runs a scenario.
func simulate(m Measured, s Scenario) Outcome {
	c := &cluster{Measured: m, Scenario: s, random: rand.New(rand.NewPCG(s.Seed, 1))}
	c.api = station{clock: &c.clock, workers: m.Cores}
	c.scheduler = station{clock: &c.clock, workers: 1}
	for range s.Nodes {
		c.nodes = append(c.nodes, &node{kubelet: station{clock: &c.clock, workers: m.Cores}})
	}
	for range s.Servers {
		c.servers = append(c.servers, c.newServer())
	}
	if s.Rate > 0 {
		c.arrive()
	}
	for range s.Clients {
		c.after(c.random.Float64()*s.Think, func() { c.client() })
	}
	c.run(s.Seconds / 5)
	start := c.snapshot()
	c.counted = true
	c.run(s.Seconds / 5 * 6)
	return c.outcome(start)
}

func (c *cluster) newServer() *server {
	v := &server{cluster: c, cpu: station{clock: &c.clock, workers: c.Cores}}
	v.blank = &pool{server: v, start: v.startPod}
	v.loaded = &pool{server: v, start: func(ahead bool, then func(*pod)) {
		v.blank.take(func(p *pod, _ bool) {
			if p == nil {
				then(nil)
				return
			}
			c.api.do(c.request(), func() { c.after(c.sample(c.Load), func() { then(p) }) })
		})
	}}
	return v
}

// arrive makes calls at random times.
func (c *cluster) arrive() {
	c.after(c.random.ExpFloat64()/c.Rate, func() {
		c.call(func(bool) {})
		c.arrive()
	})
}

// client makes one call after the other. After a refusal it waits for a second.
func (c *cluster) client() {
	c.call(func(ok bool) {
		pause := c.Think
		if !ok {
			pause = max(pause, 1)
		}
		c.after(pause, c.client)
	})
}

// call makes a call of one server.
func (c *cluster) call(done func(ok bool)) {
	v, began := c.servers[c.random.IntN(len(c.servers))], c.now
	run := func() {
		v.running++
		from := c.now
		v.execute(func(warm, ok bool) {
			v.running--
			v.slotTime += c.now - from
			if next, some := v.held.pop(); some {
				next()
			}
			switch {
			case !c.counted:
			case !ok:
				c.refused++
			default:
				c.times = append(c.times, 1000*(c.now-began))
				if warm {
					c.warm++
				}
			}
			done(ok)
		})
	}
	switch {
	case v.running < c.Slots:
		run()
	case v.held.len() < c.Queue:
		v.held.push(run)
	default:
		if c.counted {
			c.refused++
		}
		c.after(0, func() { done(false) })
	}
}

// execute runs a call that has its slot.
func (v *server) execute(done func(warm, ok bool)) {
	own := v.ServerCPU / 1000
	v.cpu.do(own, func() {
		v.loaded.take(func(p *pod, warm bool) {
			if p == nil {
				done(false, false)
				return
			}
			rest := max(0, v.sample(v.Call)-own) + v.random.ExpFloat64()*v.Work
			v.after(rest, func() {
				p.remove()
				done(warm, true)
			})
		})
	})
}

// request returns the processor time of one request to the API server, in seconds.
func (c *cluster) request() float64 { return c.APICPU / c.Measured.Requests / 1000 }

// sample returns one of the samples at random, in seconds.
func (c *cluster) sample(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	return all[c.random.IntN(len(all))] / 1000
}

// A pod is on a node until it is gone.
type pod struct {
	cluster *cluster
	node    *node
}

// startPod starts a blank Pod: one request, a turn of the scheduler, and the work of a
// kubelet after which the rest of the measured time passes.
func (v *server) startPod(ahead bool, then func(*pod)) {
	wait := 0.0
	if ahead && v.loaded.waiting == 0 {
		turn := max(v.now, v.turn)
		v.turn, wait = turn+1/v.AheadRate, turn-v.now
	}
	c := v.cluster
	c.after(wait, func() {
		c.api.do(c.request(), func() { c.scheduler.do(1/c.Scheduled, func() { c.place(then) }) })
	})
}

// place gives a Pod to the node with the fewest.
func (c *cluster) place(then func(*pod)) {
	n := slices.MinFunc(c.nodes, func(a, b *node) int { return a.pods - b.pods })
	if n.pods >= c.Room {
		c.noRoom.push(func() { c.place(then) })
		return
	}
	n.pods++
	c.countPods(1)
	work := float64(c.Cores) / c.StartRate
	n.kubelet.do(work, func() {
		// A Pod's kubelet and watches make the other requests.
		for range int(c.Measured.Requests) - 3 {
			c.api.do(c.request(), func() {})
		}
		c.after(c.sample(c.Start)-work, func() { then(&pod{c, n}) })
	})
}

func (p *pod) remove() {
	c := p.cluster
	c.api.do(c.request(), func() {
		c.after(c.sample(c.Remove), func() {
			p.node.pods--
			c.countPods(-1)
			if next, ok := c.noRoom.pop(); ok {
				next()
			}
		})
	})
}

func (c *cluster) countPods(change int) {
	c.pods += float64(c.podsNow) * (c.now - c.podsAt)
	c.podsAt = c.now
	c.podsNow += change
}

// A usage counts the use of each resource since the beginning.
type usage struct {
	requests                             int
	api, scheduler, kubelets, cpu, slots float64
	pods                                 float64
}

func (c *cluster) snapshot() (u usage) {
	c.countPods(0)
	u.requests, u.api, u.scheduler, u.pods = c.api.jobs-c.api.queue.len(), c.api.busy, c.scheduler.busy, c.pods
	for _, n := range c.nodes {
		u.kubelets += n.kubelet.busy
	}
	for _, v := range c.servers {
		u.cpu += v.cpu.busy
		u.slots += v.slotTime
	}
	return u
}

func (c *cluster) outcome(from usage) Outcome {
	to, time := c.snapshot(), c.Seconds
	calls := len(c.times) + c.refused
	share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	each := func(used float64, workers int) float64 { return used / time / float64(workers) }
	slices.Sort(c.times)
	o := Outcome{
		P50: percentile(c.times, 0.50), P95: percentile(c.times, 0.95),
		Rate: float64(len(c.times)) / time, Warm: share(c.warm, len(c.times)), Busy: share(c.refused, calls),
		Requests: float64(to.requests-from.requests) / time,
		Uses: []Use{
			{"kubelets", each(to.kubelets-from.kubelets, c.Nodes*c.Cores)},
			{"API server", each(to.api-from.api, c.Cores)},
			{"scheduler", each(to.scheduler-from.scheduler, 1)},
			{"room on nodes", each(to.pods-from.pods, c.Nodes*c.Room)},
			{"servers' CPU", each(to.cpu-from.cpu, c.Servers*c.Cores)},
			{"slots", each(to.slots-from.slots, c.Servers*c.Slots)},
		},
	}
	slices.SortStableFunc(o.Uses, func(a, b Use) int { return cmp.Compare(b.Share, a.Share) })
	return o
}

// percentile returns the nearest rank of sorted values.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

// A Limit is the calls a second at which a resource is fully used.
type Limit struct {
	Resource string
	Rate     float64
}

// limits returns the limits of a scenario, the lowest first: that one breaks first.
func limits(m Measured, s Scenario) []Limit {
	cores, servers := float64(m.Cores), float64(s.Servers)
	all := []Limit{
		{"kubelets", m.StartRate * float64(s.Nodes)},
		{"API server", cores * 1000 / m.APICPU},
		{"scheduler", m.Scheduled},
		{"servers' CPU", servers * cores * 1000 / m.ServerCPU},
		{"slots", servers * float64(s.Slots) / (mean(m.Call)/1000 + s.Work)},
		{"room on nodes", float64(s.Nodes*m.Room) / ((mean(m.Start)+mean(m.Call)+mean(m.Remove))/1000 + s.Work)},
	}
	slices.SortFunc(all, func(a, b Limit) int { return cmp.Compare(a.Rate, b.Rate) })
	return all
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return sum / float64(len(all))
}

// The rules of package warmpool, in seconds: the pause before a refill, the pause without
// a take before one where a Pod waits, and the pause that ends a burst.
const (
	refillDelay = 0.020
	quietPause  = 0.100
	burstPause  = 0.250
)

// A pool has Pods of one kind waiting, by the rules of package warmpool: a take without a
// Pod starts one; the Pod that is ready first is for the take that has waited longest;
// while none waits, others are started, up to as many as a burst has taken.
type pool struct {
	*server
	start     func(ahead bool, then func(*pod))
	ready     queue[*pod]
	waiters   queue[*waiter]
	waiting   int // takes that still wait
	starting  int
	last      float64 // the time of the last take
	burst     int     // takes that followed one another closely, up to the last
	target    int
	refilling bool // a refill is scheduled
}

// A waiter is a take that waits. got is nil once it does not any more.
type waiter struct{ got func(*pod, bool) }

// take calls got with a Pod, and whether that one waited, or after the patience of a call
// with nil.
func (p *pool) take(got func(*pod, bool)) {
	if p.now-p.last >= burstPause {
		p.burst = 0
	}
	p.last = p.now
	p.burst++
	p.target = max(p.target, min(p.burst, p.Pool))
	if one, ok := p.ready.pop(); ok {
		p.scheduleRefill(refillDelay)
		got(one, true)
		return
	}
	w := &waiter{got}
	p.waiters.push(w)
	p.waiting++
	p.after(p.Patience, func() { p.serve(w, nil) })
	p.begin(false)
}

// serve ends the wait of w, and reports whether it waited.
func (p *pool) serve(w *waiter, one *pod) bool {
	got := w.got
	if got == nil {
		return false
	}
	w.got = nil
	p.waiting--
	got(one, false)
	return true
}

func (p *pool) begin(ahead bool) {
	p.starting++
	p.start(ahead, func(one *pod) {
		p.starting--
		if one == nil {
			return
		}
		for next, some := p.waiters.pop(); some; next, some = p.waiters.pop() {
			if p.serve(next, one) {
				p.last = p.now
				p.scheduleRefill(refillDelay)
				return
			}
		}
		if p.ready.len() >= max(p.target, 1) {
			one.remove()
			return
		}
		p.ready.push(one)
		p.scheduleRefill(refillDelay)
	})
}

func (p *pool) scheduleRefill(d float64) {
	if !p.refilling {
		p.refilling = true
		p.refillAfter(d)
	}
}

func (p *pool) refillAfter(d float64) {
	p.after(d, func() {
		if rest := quietPause - (p.now - p.last); p.ready.len() > 0 && rest > 1e-9 {
			p.refillAfter(rest)
			return
		}
		p.refilling = false
		if p.starting < p.Refills && p.waiting == 0 && p.ready.len() < p.target {
			p.begin(true)
		}
	})
}
