package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/integration/modelserver"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

const (
	chaosTurns   = 40 // of a tree's budget; one that ends well uses at most 29
	chaosTrees   = 5  // that are open at once
	chaosClients = 3  // calls at once
	perSession   = 2  // requests to the model, about
	quietCalls   = 30 // without news, after which nothing is to come
)

// A chaos is a forest of trees of sessions on three levels. Tree 7 has 7, 7.0, 7.0.1.
type chaos struct {
	*stage
	sessions int // that are to be
	connect  func(*lab.Account) *client

	mu       sync.Mutex
	asked    map[string]bool // sessions that have asked their model
	turns    map[string]int  // requests, by tree
	problems []string
	trees    map[string]*tree
	seen     map[string]bool // sessions whose announcement their parent's model has got
	orphans  map[string]int  // announcements to clients of sessions whose parent was killed
	next     int             // tree
	lives    int

	// Of the current life:
	left  int           // requests until the kill
	due   chan struct{} // closed then
	fresh int           // trees
	open  int           // of these without announcement
	quiet int           // calls in a row with no announcement, and nothing that runs
}

// A tree is one as its client sees it.
type tree struct {
	life      int  // in which it was spawned
	known     bool // its run ID has come
	announced []announcement
}

// A step is the next action of a client.
type step int

const (
	toSpawn step = iota
	toList
	toStop
)

// TestChaos kills the server at random points while agents work in trees of three levels.
// SKILLS_MCP_TEST_CHAOS is the number of sessions over each transport, with a kill for each
// hundred.
func TestChaos(t *testing.T) {
	if err := lab.CheckNative(t.Context()); err != nil {
		t.Skip(err)
	}
	sessions := 300
	if text := os.Getenv("SKILLS_MCP_TEST_CHAOS"); text != "" {
		var err error
		if sessions, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("stdio", func(t *testing.T) { storm(t, sessions, stdio) })
	t.Run("http", func(t *testing.T) {
		storm(t, sessions, func(a *lab.Account) *client {
			p, url := listen(a, true)
			return connect(a.T, p, url, "")
		})
	})
}

func storm(t *testing.T, sessions int, connect func(*lab.Account) *client) {
	x := &chaos{sessions: sessions, connect: connect, asked: map[string]bool{}, turns: map[string]int{}, trees: map[string]*tree{}, seen: map[string]bool{}, orphans: map[string]int{}}
	kills := max(sessions/100, 3)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, seed))
	t.Logf("seed %d", seed)

	x.stage = newStage(t, chat.OpenAI, fmt.Sprintf("  depth: 3\n  max_children: 50\n  budget: {turns: %d}", chaosTurns))
	x.role("node", x.node)
	mark := fmt.Sprintf("0.05%d", seed) // seconds, and an argument that processes are known by
	x.Skill("probe/SKILL.md", "---\nname: probe\ndescription: Probes.\nscript: run.sh\n---\n")
	x.Skill("probe/run.sh", "sleep "+mark+"; echo probed\n")

	began := time.Now()
	var starts time.Duration
	for range kills {
		starts += x.live(1+random.IntN(2*perSession*x.sessions/kills), x.storm)
	}
	x.live(0, x.finish)
	x.live(0, x.after)
	if lab.Exists(t, mark) {
		t.Error("processes of skills are left")
	}
	x.check()
	t.Logf("%d sessions in %d trees, %d requests to the model, %d kills, in %v, of it %v until servers were ready",
		len(x.asked), x.next, x.model.Count(), kills, time.Since(began).Round(time.Second), starts.Round(time.Second))
}

// live is the life of one server, which is killed after some requests to the model, or ends well
// when its clients stop. It returns the time until the server was ready.
func (x *chaos) live(requests int, step func() step) time.Duration {
	began := time.Now()
	c := x.connect(x.Account)
	ready := time.Since(began)
	due := make(chan struct{})
	x.mu.Lock()
	x.left, x.due, x.fresh, x.open, x.quiet = requests, due, 0, 0, 0
	x.lives++
	x.mu.Unlock()
	var work sync.WaitGroup
	for range chaosClients {
		work.Go(func() {
			for x.step(c, step) {
			}
		})
	}
	if requests > 0 {
		select {
		case <-due:
		case <-time.After(lab.Patience):
			x.T.Errorf("%d requests to the model do not come: %.2000s", requests, c.server.log)
		}
		c.server.kill()
	}
	work.Wait()
	c.server.end()
	x.model.Wait() // for requests that are on their way
	return ready
}

func (x *chaos) storm() step {
	if x.open < chaosTrees {
		return toSpawn
	}
	return toList
}

func (x *chaos) finish() step {
	switch {
	case len(x.asked) < x.sessions || x.fresh < 2*chaosTrees:
		return x.storm()
	case x.quiet < quietCalls:
		return toList
	}
	return toStop
}

// after is a client that is told of its own tree alone: all else is told.
func (x *chaos) after() step {
	switch {
	case x.fresh == 0: // a server spawns when it knows what is to be announced
		return toSpawn
	case x.quiet < quietCalls:
		return toList
	}
	return toStop
}

// step makes one call, and reports whether there is another.
func (x *chaos) step(c *client, next func() step) bool {
	x.mu.Lock()
	doing := next()
	id := strconv.Itoa(x.next)
	if doing == toSpawn {
		x.trees[id] = &tree{life: x.lives}
		x.next++
		x.fresh++
		x.open++
	}
	x.mu.Unlock()
	switch doing {
	case toSpawn:
		args := map[string]any{"agent_id": "worker", "task": "node " + id, "label": id}
		if text, failed, err := c.call("sessions_spawn", args); err != nil || failed {
			x.problem(failed, "tree %s cannot be spawned: %s", id, text)
			return false
		}
		x.mu.Lock()
		x.trees[id].known = true
		x.mu.Unlock()
	case toList:
		running, err := c.list("running")
		if err != nil {
			return false
		}
		x.mu.Lock()
		if x.quiet++; len(running) > 0 {
			x.quiet = 0
		}
		x.mu.Unlock()
	}
	x.hear(c)
	return doing != toStop
}

// hear takes the announcements that have come.
func (x *chaos) hear(c *client) {
	c.mu.Lock()
	news := c.announced
	c.announced = nil
	c.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range news {
		x.quiet = 0
		root, _, below := strings.Cut(a.label, ".")
		tree := x.trees[root]
		if below {
			if x.orphans[a.label]++; tree.life == x.lives || x.seen[a.label] || x.orphans[a.label] > 1 {
				x.problems = append(x.problems, fmt.Sprintf("the client is told of %+v, of which the model was told %v, for the %d. time", a, x.seen[a.label], x.orphans[a.label]))
			}
			continue
		}
		tree.announced = append(tree.announced, a)
		if tree.life == x.lives {
			x.open--
		}
	}
}

func (x *chaos) problem(is bool, format string, args ...any) {
	if is {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.problems = append(x.problems, fmt.Sprintf(format, args...))
	}
}

// node is the model of all sessions.
func (x *chaos) node(_ context.Context, r *modelserver.Request) modelserver.Reply {
	_, id, _ := strings.Cut(r.Messages[0].Text, " ")
	root, _, _ := strings.Cut(id, ".")
	level := strings.Count(id, ".")
	x.ask(id, root)
	told := announcements(r)
	labels := map[string]bool{}
	for _, text := range told {
		label := strings.Split(text, `"`)[1]
		x.problem(labels[label] || !strings.HasPrefix(label, id+"."), "%s is told of %q", id, told)
		labels[label] = true
		x.see(label)
	}
	number, _ := strconv.Atoi(root)
	switch children := 3 - level; {
	case level == 2 && number%10 == 9: // endless: the budget ends the tree
		return modelserver.Reply{Calls: []chat.Call{{Name: "sessions_list", Args: json.RawMessage("{}")}}}
	case level == 2 && !begun(r) && number%5 == 0:
		return modelserver.Reply{Calls: []chat.Call{{Name: "probe", Args: json.RawMessage("{}")}}}
	case level == 2:
		x.problem(number%5 == 0 && !strings.Contains(r.Last(), "probed"), "the skill of %s returned %s", id, r.Last())
		return modelserver.Reply{Text: "result " + id}
	case !begun(r):
		var calls []chat.Call
		for i := range children {
			child := fmt.Sprintf("%s.%d", id, i)
			calls = append(calls, spawn("worker", "node "+child, child))
		}
		return modelserver.Reply{Calls: calls}
	case len(told) < children:
		return modelserver.Reply{Text: "I wait"}
	}
	return modelserver.Reply{Text: "result " + id}
}

func (x *chaos) see(label string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen[label] = true
}

// ask counts a request.
func (x *chaos) ask(id, root string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked[id] = true
	x.turns[root]++
	if tree := x.trees[root]; tree.life != x.lives || len(tree.announced) > 0 {
		x.problems = append(x.problems, fmt.Sprintf("%s asks its model after the end of its tree, %+v", id, tree))
	}
	if x.left--; x.left == 0 {
		close(x.due)
	}
}

// check checks that each tree was announced once, or that a kill took its announcement on its
// way: the store then says that it is delivered, so that no later client hears of it.
func (x *chaos) check() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, text := range x.problems {
		if i < 20 {
			x.T.Error(text)
		}
	}
	counts := map[string]int{}
	for id, tree := range x.trees {
		switch {
		case len(tree.announced) > 1:
			x.T.Errorf("tree %s is announced %d times: %q", id, len(tree.announced), tree.announced)
		case len(tree.announced) == 0 && (tree.known || x.asked[id]):
			counts["lost on the way"]++
			x.T.Logf("the announcement of tree %s of life %d was lost, known %v, %d requests", id, tree.life, tree.known, x.turns[id])
		case len(tree.announced) == 0:
			counts["never stored"]++
		default:
			a := tree.announced[0]
			if counts[a.status]++; a.status == "done" && !strings.Contains(a.result, "result "+id) {
				counts["done in part"]++
			}
			budget := strings.Contains(a.result, "budget")
			if budget && x.turns[id] != chaosTurns || x.turns[id] == chaosTurns && a.status == "done" || a.status != "done" && a.status != "error" {
				x.T.Errorf("tree %s has made %d requests: %+v", id, x.turns[id], a)
			}
		}
		if x.turns[id] > chaosTurns {
			x.T.Errorf("tree %s has made %d requests", id, x.turns[id])
		}
	}
	counts["below a killed parent"] = len(x.orphans)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		x.T.Logf("%s: %d", name, counts[name])
	}
	if lost := counts["lost on the way"]; lost > chaosTrees+len(x.trees)/100 {
		x.T.Errorf("%d of %d announcements were lost", lost, len(x.trees))
	}
	if counts["done"] == 0 || counts["error"] == 0 {
		x.T.Error("no tree is done, or none failed")
	}
}
