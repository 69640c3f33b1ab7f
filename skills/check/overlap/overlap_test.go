package overlap_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check/overlap"
)

func skill(name, description string) *skills.Skill {
	return &skills.Skill{Name: name, Description: description, File: "/skills/" + name + "/SKILL.md", ModelInvocable: true}
}

// catalog has skills of various subjects, which give the words their weights.
func catalog(more ...*skills.Skill) []*skills.Skill {
	return append(more,
		skill("brew-coffee", "Grind beans and time an espresso shot on the machine in the kitchen."),
		skill("plan-trip", "Plan a journey with trains and hotels within a budget."),
		skill("tune-guitar", "Listen to a string and say how many cents it is off."),
		skill("write-haiku", "Compose a poem of three lines about the season."),
		skill("scan-ports", "List the open ports of a host in the local network."),
		skill("crop-photo", "Cut the border off a picture and keep the faces in it."),
	)
}

// TestFind finds the skills that a model confuses, and not those that their names or
// their authors tell apart.
func TestFind(t *testing.T) {
	tests := []struct {
		name string
		in   []*skills.Skill
		want string
	}{
		{"different subjects", nil, ""},
		{
			"the same subject in other words",
			[]*skills.Skill{
				skill("invoice-maker", "Generate invoices for customers as PDF with tax and totals."),
				skill("billing-docs", "Generates PDF invoices for a customer, with totals, tax and a due date."),
			},
			"invoice-maker billing-docs",
		},
		{
			"in another language",
			[]*skills.Skill{
				skill("rechnung", "Erstellt Rechnungen mit Steuern für die Kunden der Firma."),
				skill("faktura", "Eine Rechnung mit Steuer für einen Kunden der Firma erstellen."),
			},
			"rechnung faktura",
		},
		{
			"without spaces between words",
			[]*skills.Skill{
				skill("fapiao", "为客户生成带税额的发票文件"),
				skill("zhangdan", "生成客户的发票文件，带税额"),
			},
			"fapiao zhangdan",
		},
		{
			"copies under other names",
			[]*skills.Skill{skill("a", "Convert a table to JSON."), skill("b", "Convert a table to JSON."), skill("c", "Convert a table to JSON.")},
			"a b c",
		},
		{
			"names that tell them apart",
			[]*skills.Skill{
				skill("aws-review", "Review the AWS architecture of a workload and open issues for findings."),
				skill("azure-review", "Review the Azure architecture of a workload and open issues for findings."),
			},
			"",
		},
		{
			"one names the other",
			[]*skills.Skill{
				skill("invoice-maker", "Generate invoices for customers as PDF with tax and totals. Do not use it for reminders: use billing-docs instead."),
				skill("billing-docs", "Generates PDF invoices for a customer, with totals, tax and a due date."),
			},
			"",
		},
		{
			"only a person may call one",
			[]*skills.Skill{
				skill("a", "Convert a table to JSON."),
				{Name: "b", Description: "Convert a table to JSON.", File: "b"},
			},
			"",
		},
	}
	for _, test := range tests {
		groups, more, err := overlap.Find(context.Background(), catalog(test.in...), nil)
		if err != nil || more != 0 {
			t.Fatalf("%s: %d more, %v", test.name, more, err)
		}
		var got []string
		for _, group := range groups {
			for _, s := range group.Skills {
				got = append(got, s.Name)
			}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestProblem shows the words that a report has.
func TestProblem(t *testing.T) {
	groups, _, err := overlap.Find(context.Background(), catalog(
		skill("invoice-maker", "Generate invoices for customers as PDF with tax and totals."),
		skill("billing-docs", "Generates PDF invoices for a customer, with totals, tax and a due date."),
	), nil)
	if err != nil || len(groups) != 1 {
		t.Fatal(groups, err)
	}
	const want = "/skills/invoice-maker/SKILL.md: warning: a model will confuse invoice-maker and billing-docs: " +
		"all say invoice, generate, customers, pdf, tax, totals; only invoice-maker says maker; only billing-docs says due, date, billing, docs " +
		"(say in each description when not to use the skill, and name the other; or merge them)"
	if got := groups[0].Problem().String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBounds: many groups are cut, the most similar are first, and a done context ends
// the search.
func TestBounds(t *testing.T) {
	var all []*skills.Skill
	for i := range 80 {
		all = append(all, skill(fmt.Sprintf("a%d", i), fmt.Sprintf("Peel x%d y%d z%d", i, i, i)),
			skill(fmt.Sprintf("b%d", i), fmt.Sprintf("Peel x%d y%d z%d now%d", i, i, i, i%2)))
	}
	groups, more, err := overlap.Find(context.Background(), all, nil)
	if err != nil || len(groups) != 50 || more != 30 {
		t.Errorf("%d groups and %d more, %v", len(groups), more, err)
	}
	if !slices.IsSortedFunc(groups, func(a, b overlap.Group) int { return -compare(a.Similarity, b.Similarity) }) {
		t.Error("the groups are not sorted")
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := overlap.Find(done, all, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// generated returns n skills whose words are as frequent as in a language. With copies,
// all descriptions are one of a few.
func generated(n, copies int) []*skills.Skill {
	random := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(random, 1.1, 8, 20000)
	var all []*skills.Skill
	for i := range n {
		if copies > 0 && i >= copies {
			all = append(all, skill(fmt.Sprintf("name%d", i), all[i%copies].Description))
			continue
		}
		var b strings.Builder
		for range 40 {
			fmt.Fprintf(&b, "w%dx ", words.Uint64())
		}
		all = append(all, skill(fmt.Sprintf("name%d", i), b.String()))
	}
	return all
}

// BenchmarkFind measures 10,000 skills.
func BenchmarkFind(b *testing.B) {
	for name, all := range map[string][]*skills.Skill{"varied": generated(10000, 0), "copies": generated(10000, 100)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				groups, more, err := overlap.Find(context.Background(), all, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(groups)+more), "groups")
			}
		})
	}
}
