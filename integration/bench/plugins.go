package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// idling is a run of the suite plugins.
type idling struct {
	*bench
	host
	count    uint // of each kind
	idle     time.Duration
	driver   string
	kinds    []pluginKind
	programs []int // processes of the plugins that run, with all that belongs to them
}

// A pluginKind is one way to bring a program.
type pluginKind struct{ name, file, code, manifest string }

// pluginKinds returns all kinds; the manifests want the id.
func pluginKinds() []pluginKind {
	const conduit = `{"id": %q, "name": "Bench", "description": "d", "version": "1.0.0"}`
	return []pluginKind{
		{"python", "__init__.py", "def register(api): api.register_tool('t', 'd', {}, lambda: 'done')\n", conduit},
		{"node", "index.mjs", "export function register(api) { api.register_tool('t', 'd', {}, async () => 'done') }\n", conduit},
		{"server", "server.py", `import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        tools = [{"name": "t", "inputSchema": {"type": "object"}}]
        result = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}, "tools/list": {"tools": tools}}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result.get(m["method"], {})}), flush=True)
`, `{"name": %q, "mcpServers": {"tools": {"command": "python3", "args": ["${CLAUDE_PLUGIN_ROOT}/server.py"]}}}`},
	}
}

func pluginSuite() suite {
	p := &idling{kinds: pluginKinds()}
	return suite{
		name: "plugins", quick: []string{"count=2", "idle=200ms"},
		about: `plugins starts plugins of each kind (Conduit's in Python and in Node, and an MCP
server in Python that imports nothing), each in its sandbox, and leaves them idle.
All figures of memory are of one plugin: with the processes that stay with it, on
docker the engine's too.

  PSS MB     its own memory, and its share of what several processes map, such as
             the pages of the interpreter: their sum is what all take together
  RSS MB     of its largest process, with all that is shared
  server MB  PSS of the server beyond that before the first plugin, over their number
  CPU ms     in --idle, of all plugins together, and of the server
`,
		flags: func(f *flag.FlagSet) {
			f.UintVar(&p.count, "count", 10, "how many plugins of each kind run")
			f.DurationVar(&p.idle, "idle", time.Minute, "how long they are left idle")
			f.StringVar(&p.driver, "driver", "native", "native or docker")
			f.StringVar(&p.image, "image", os.Getenv("SKILLS_MCP_TEST_IMAGE"), "the containers' `image`, with node and python3")
		},
		measure: func(ctx context.Context, b *bench) error {
			p.bench = b
			servers, err := b.servers(ctx)
			if err == nil && p.driver == "docker" {
				p.engine, err = findEngine(ctx, "")
			}
			for _, server := range servers {
				if err == nil {
					err = p.measure(ctx, server)
				}
			}
			return err
		},
	}
}

func (p *idling) measure(ctx context.Context, b binary) (err error) {
	home := filepath.Join(p.bench.dir, "home"+b.suffix)
	config := fmt.Sprintf("expose: {mode: all}\npolicy: {skills: {\"*\": {class: safe}}}\nsandbox: {driver: %s}\nplugins: [%q]\n", p.driver, filepath.Join(home, "plugins"))
	if p.driver == "docker" {
		config += fmt.Sprintf("images: {default: %q, node: %[1]q}\n", p.image)
	}
	errs := []error{os.MkdirAll(filepath.Join(home, "work"), 0o755), writeFile(filepath.Join(home, "config.yaml"), config)}
	for _, kind := range p.kinds {
		for i := range p.count {
			dir := filepath.Join(home, "plugins", p.plugin(kind, i))
			errs = append(errs, writeFile(filepath.Join(dir, "plugin.json"), fmt.Sprintf(kind.manifest, p.plugin(kind, i))), writeFile(filepath.Join(dir, kind.file), kind.code))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	server, err := b.serve(home, serveOptions{env: p.engineEnv()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	if err := server.pipe.initialize(ctx); err != nil {
		return err
	}
	before := pss(server.cmd.Process.Pid)
	for _, kind := range p.kinds {
		if err := p.start(ctx, server, b, kind); err != nil {
			return err
		}
	}
	all := p.result("idle", "the server"+b.suffix)
	spent, own := sumCPU(p.programs), server.cpu()
	if err := pause(ctx, p.idle); err != nil {
		return err
	}
	all.set("plugins' CPU ms", milliseconds(sumCPU(p.programs)-spent))
	all.set("CPU ms", milliseconds(server.cpu()-own))
	all.set("server MB", (pss(server.cmd.Process.Pid)-before)/float64(uint(len(p.kinds))*p.count))
	return nil
}

// plugin returns the name of a plugin.
func (p *idling) plugin(kind pluginKind, i uint) string {
	return fmt.Sprintf("bench-%s-%s-%d", p.bench.id, kind.name, i)
}

// start starts the plugins of a kind, and measures their memory.
func (p *idling) start(ctx context.Context, server *process, b binary, kind pluginKind) error {
	known := map[int]bool{}
	for _, pid := range p.programs {
		known[pid] = true
	}
	var labels []string
	for i := range p.count {
		name := p.plugin(kind, i)
		reply, err := server.pipe.ask(ctx, question{"tools/call", name + "__tools", `"arguments":{}`})
		if err != nil || !bytes.Contains(reply, []byte("has started")) {
			return errors.Join(err, fmt.Errorf("%s answers %.500s", name, reply))
		}
		labels = append(labels, label("skill", name+"/tools"))
	}
	if err := pause(ctx, quiet); err != nil {
		return err
	}
	p.programs = descendants(server.cmd.Process.Pid)
	if p.engine != nil {
		roots, err := p.engine.shims(ctx, labels...)
		if err != nil {
			return err
		}
		for pid := range known {
			p.programs = append(p.programs, pid)
		}
		for _, pid := range roots {
			p.programs = append(append(p.programs, pid), descendants(pid)...)
		}
	}
	o, shared, largest := p.result("idle", kind.name+b.suffix), 0.0, 0.0
	for _, pid := range p.programs {
		if !known[pid] {
			shared += pss(pid)
			largest = max(largest, procMB(pid, "smaps_rollup", "Rss"))
		}
	}
	o.set("PSS MB", shared/float64(p.count))
	o.set("RSS MB", largest)
	return nil
}

// sumCPU returns the processor time of processes.
func sumCPU(pids []int) (total time.Duration) {
	for _, pid := range pids {
		total += cpuTime(pid)
	}
	return total
}
