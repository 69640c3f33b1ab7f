package shell

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// TestGenerated: of scripts that are put together by chance, right or wrong, what
// is read is what bash does.
func TestGenerated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 2500 {
		text, variables := generate(random)
		c := lineOf([]byte(text))
		if c == nil {
			continue
		}
		read++
		for range 4 {
			checkAgainstBash(t, random, text, variables, c)
		}
	}
	if read < 100 {
		t.Errorf("only %d scripts were read", read)
	}
}

// checkAgainstBash calls a script with values and without options by chance.
func checkAgainstBash(t *testing.T, random *rand.Rand, text string, variables map[string]string, c *cli.CommandLine) {
	t.Helper()
	values := []string{"x", "-", "--", "--o1", "-b", "--o2=z", "a b", "$1", "-x"}
	args, want := map[string]any{}, map[string]string{}
	for pair := c.Schema().Properties.Oldest(); pair != nil; pair = pair.Next() {
		value := values[random.IntN(len(values))]
		variable, ok := variables[pair.Key]
		if !ok {
			t.Fatalf("there is no %q in\n%s", pair.Key, text)
		}
		if random.IntN(3) == 0 && variable != "P" {
			want[variable] = "<>"
			continue
		}
		switch pair.Value.Type {
		case "boolean":
			args[pair.Key], want[variable] = true, "<on>"
		case "array":
			args[pair.Key], want[variable] = []any{value, value}, "<"+value+"><"+value+">"
		default:
			args[pair.Key], want[variable] = value, "<"+value+">"
		}
	}
	argv, err := c.Argv(args)
	var refused *cli.ArgumentError
	if errors.As(err, &refused) && refused.Name == "p" {
		return
	}
	got, runErr := runBash(t, text, argv)
	for variable := range want {
		if err != nil || runErr != nil || got[variable] != want[variable] {
			t.Fatalf("%v: argv %q, %v, %v: bash got %v, want %v, of\n%s", args, argv, err, runErr, got, want, text)
		}
	}
}

// generate returns a script and the variable of each property that it may have.
func generate(random *rand.Rand) (text string, variables map[string]string) {
	pick := func(choices ...string) string { return choices[random.IntN(len(choices))] }
	variables = map[string]string{"p": "P"}
	common := pick("", "", "shift")
	var items strings.Builder
	for i := range 1 + random.IntN(4) {
		variable := fmt.Sprintf("V%d", i)
		name := fmt.Sprintf("--o%d", i)
		variables[nameOf(name)] = variable
		label := pick(name, name, name+"|-"+string(rune('a'+i)), `"`+name+`"`)
		var body string
		switch random.IntN(6) {
		case 0:
			label = name + "=*"
			body = pick(variable+`="${1#*=}"`, variable+`=${1#`+name+`=}`, variable+`="${1##*=}"`) + "; " + pick("shift", ":", "shift")
		case 1:
			body = variable + "=on; " + pick("shift", "shift", ":", "shift 2")
		case 2:
			body = variable + `+=("$2"); ` + pick("shift 2", "shift", "shift; shift")
		case 3:
			body = "shift; " + variable + `="$1"; ` + pick("shift", ":")
		default:
			body = variable + `=` + pick(`"$2"`, `$2`, `"${2:-}"`, `"${2}"`) + "; " + pick("shift 2", "shift", "shift; shift", "shift 3", "shift; continue")
		}
		fmt.Fprintf(&items, "    %s) %s ;;\n", label, body)
	}
	for range 2 {
		items.WriteString(pick("", "", "    --) shift; break ;;\n", "    -*) exit 2 ;;\n"))
	}
	items.WriteString(pick("", "    *) exit 3 ;;\n", "    *) break ;;\n", "    *) P=$1; shift ;;\n", "    *) P=\"$1\" ;;\n"))
	items.WriteString(pick("", "", "", "    *) P=$1; shift ;;\n", "    --o0) V0=on; shift ;;\n"))
	cond := pick("[ $# -gt 0 ]", "[[ $# -gt 0 ]]", "(( $# ))", `[ -n "$1" ]`, "true", `[[ "${1:-}" != "" ]]`, "test $# -ne 0")
	after := pick("", "", "P=$1", "P=${1:?}")
	return fmt.Sprintf("%s\nwhile %s; do\n  case \"$1\" in\n%s  esac\n  %s\ndone\n%s\ndump P V0 V1 V2 V3\n", dump, cond, items.String(), common, after), variables
}

// TestGeneratedGetopts is the same of getopts.
func TestGeneratedGetopts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	read := 0
	for range 800 {
		text, variables := generateGetopts(random)
		if c := lineOf([]byte(text)); c != nil {
			read++
			checkAgainstBash(t, random, text, variables, c)
		}
	}
	if read < 50 {
		t.Errorf("only %d scripts were read", read)
	}
}

func generateGetopts(random *rand.Rand) (text string, variables map[string]string) {
	pick := func(choices ...string) string { return choices[random.IntN(len(choices))] }
	variables = map[string]string{"p": "P"}
	letters := pick("", ":")
	var items strings.Builder
	for i := range 1 + random.IntN(4) {
		variable, letter := fmt.Sprintf("V%d", i), string(rune('a'+i))
		variables["v"+fmt.Sprint(i)], variables[letter] = variable, variable
		letters += letter + pick("", ":", ":")
		fmt.Fprintf(&items, "    %s) %s ;;\n", pick(letter, letter, `"`+letter+`"`), pick(
			variable+"=on", variable+`="$OPTARG"`, variable+`="$OPTARG"`, variable+`=${OPTARG}`, variable+`+=("$OPTARG")`, variable+`="$2"; shift`))
	}
	items.WriteString(pick("", "    *) exit 2 ;;\n", "    \\?) exit 3 ;;\n    :) exit 4 ;;\n"))
	shift := pick("", "shift $((OPTIND-1))", `shift "$((OPTIND - 1))"`, "shift $OPTIND")
	after := pick("", "P=$1", "P=${1:?}", `P=("$@")`)
	return fmt.Sprintf("%s\nwhile getopts %q opt; do\n  case $opt in\n%s  esac\ndone\n%s\n%s\ndump P V0 V1 V2 V3\n", dump, letters, items.String(), shift, after), variables
}
