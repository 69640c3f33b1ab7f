// Command scale predicts how a cluster of any size serves calls, by a discrete-event model
// of servers, their pools, the API server, the scheduler and the nodes. Its input is the
// figures of a real cluster, which "bench kubernetes --measured FILE" writes, with runs to
// check it against; all else of its output is simulated.
//
//	go run ./integration/scale --measured FILE
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.SetOutput(stderr)
	file := flags.String("measured", "", "the `file` with the figures of a real cluster")
	seed := flags.Uint64("seed", 1, "of the random numbers")
	seconds := flags.Float64("seconds", 30, "simulated time of a scenario")
	work := flags.Float64("work", 0, "seconds that a skill works in the mean, beyond a script of one line")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	m, err := read(*file)
	if err != nil {
		fmt.Fprintln(stderr, "scale:", err)
		return 1
	}
	fmt.Fprintf(stdout, "Figures of: %s\nAll other figures are simulated (seed %d, %g s each).\n", m.Machine, *seed, *seconds)
	base := Scenario{Slots: 64, Queue: 64, Pool: 8, Refills: 1, AheadRate: 5, Patience: 45, Seed: *seed, Seconds: *seconds, Work: *work}
	check(stdout, m, base)
	breaks(stdout, m, base)
	sweep(stdout, m, base)
	return 0
}

// read returns the measured figures. Without one of them the model has no meaning.
func read(file string) (m Measured, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	for name, missing := range map[string]bool{
		"Start": len(m.Start) == 0, "StartRate": m.StartRate <= 0, "Cores": m.Cores <= 0, "Room": m.Room <= 0, "Load": len(m.Load) == 0, "Call": len(m.Call) == 0,
		"ServerCPU": m.ServerCPU <= 0, "Remove": len(m.Remove) == 0, "Requests": m.Requests < 1, "APICPU": m.APICPU <= 0, "Scheduled": m.Scheduled <= 0,
	} {
		if missing {
			return m, fmt.Errorf("%s has no %s", file, name)
		}
	}
	return m, nil
}

// check prints the measured runs beside simulated ones of the same load.
func check(w io.Writer, m Measured, s Scenario) {
	rows := [][]any{{"clients", "pause s", "measured p50 ms", "model", "measured p95 ms", "model", "measured calls/s", "model", "measured warm %", "model"}}
	s.Nodes, s.Servers, s.Seconds, s.Work = 1, 1, 300, 0
	for _, r := range m.Runs {
		s.Clients, s.Think = r.Clients, r.Think/1000
		o := simulate(m, s)
		rows = append(rows, []any{r.Clients, digits(s.Think), digits(r.P50), digits(o.P50), digits(r.P95), digits(o.P95), digits(r.Rate), digits(o.Rate), digits(100 * r.Warm), digits(100 * o.Warm)})
	}
	table(w, "one node, measured and simulated", rows)
}

// sizes are clusters, with their servers.
var sizes = []struct{ nodes, servers int }{{1, 1}, {10, 2}, {100, 10}}

// breaks prints for each cluster which resource is used up first, and the next ones.
func breaks(w io.Writer, m Measured, s Scenario) {
	rows := [][]any{{"nodes", "servers", "breaks first", "at calls/s", "then", "at", "then", "at"}}
	for _, size := range sizes {
		s.Nodes, s.Servers = size.nodes, size.servers
		row := []any{s.Nodes, s.Servers}
		for _, l := range limits(m, s)[:3] {
			row = append(row, l.Resource, digits(l.Rate))
		}
		rows = append(rows, row)
	}
	table(w, "calculated: each call takes a Pod, so what breaks first is", rows)
}

// sweep prints all loads on all clusters: with pools as they are by default, and with
// large ones that are filled quickly.
func sweep(w io.Writer, m Measured, s Scenario) {
	for _, pools := range []struct {
		name      string
		most      int
		refills   int
		startRate float64
	}{
		{"8 Pods wait at most, one at a time and 5 a second are started ahead (the defaults)", 8, 1, 5},
		{"250 Pods wait at most, 50 at a time and 500 a second are started ahead", 250, 50, 500},
	} {
		rows := [][]any{{"nodes", "servers", "calls/s", "answered/s", "p50 ms", "p95 ms", "warm %", "busy %", "API requests/s", "most used", "then"}}
		s.Pool, s.Refills, s.AheadRate = pools.most, pools.refills, pools.startRate
		for _, size := range sizes {
			for s.Rate = 10; s.Rate <= 10_000; s.Rate *= 10 {
				s.Nodes, s.Servers = size.nodes, size.servers
				o := simulate(m, s)
				use := func(i int) string { return fmt.Sprintf("%s %.0f %%", o.Uses[i].Resource, 100*o.Uses[i].Share) }
				rows = append(rows, []any{s.Nodes, s.Servers, s.Rate, digits(o.Rate), digits(o.P50), digits(o.P95), digits(100 * o.Warm), digits(100 * o.Busy), digits(o.Requests), use(0), use(1)})
			}
		}
		table(w, "simulated: "+pools.name, rows)
	}
}

func digits(value float64) string {
	if value >= 100 {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.3g", value)
}

func table(w io.Writer, title string, rows [][]any) {
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(t, "%v\t", cell)
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // to a buffer or a terminal: nobody to tell
}
