package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzRead: whatever a source is, it is read in bounds, the schema can be encoded, and
// arguments of its types become words or an error.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(data)
		}
	}
	for _, seed := range []string{
		"const {a=1,...b}=process.argv", "for(const [i,a] of process.argv.entries()){if(a==='--x')y=z[i+1]}", "require('yargs').option({a:{}}).argv.b",
		"x`${`${a}`}`/b/c", "a?.b?.[c]?.(d)<e>(f)", "class A<T> extends B{@c() private d?:e=f;get g(){}static{}}", "enum E{a='x',b}", "f(/[/]/g,(a)=>b?(c):d)",
		"while(process.argv.length){const a=process.argv.shift();switch(a){case'-a':b=process.argv.shift()}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		m := NewModule(source)
		m.Runs()
		read := m.Read("")
		if read.CommandLine == nil {
			if len(read.Notes) == 0 {
				t.Error("no reason")
			}
			return
		}
		data, err := json.Marshal(read.CommandLine.Schema())
		if err != nil {
			t.Fatal(err)
		}
		again := NewModule(source).Read("").CommandLine
		if again == nil {
			t.Fatal("not the same twice")
		}
		if twice, _ := json.Marshal(again.Schema()); !cmp.Equal(data, twice) {
			t.Errorf("%s\n%s", data, twice)
		}
		args := map[string]any{}
		for p := read.CommandLine.Schema().Properties.Oldest(); p != nil; p = p.Next() {
			switch p.Value.Type {
			case "array":
				args[p.Key] = []any{"-a", json.Number("1")}
			case "boolean":
				args[p.Key] = true
			case "integer", "number":
				args[p.Key] = json.Number("-3")
			default:
				args[p.Key] = "--x"
			}
		}
		read.CommandLine.Argv(args)
	})
}

// No source takes long.
func TestHostile(t *testing.T) {
	for _, part := range []string{
		"(", "[", "{", "`${", "a<", "((a)=>", "a?b:", "!", "-", "new ", "new a(", "a=>", "async(", "a.", "a(", "/*", "`", "'", "/[", "/a\n", "if(a)", "else ", "for(;;)", "while(process.argv.length)",
		"class A{", "function f(){", "f(", "x=", "a?.(", "<T>", "type A=", "type A=(", "a as ", "({a:", "[[", "}", ")", "switch(process.argv[2]){case 1:", "const [a]=process.argv;", "process.argv[2]||",
		"f();function f(){f()}", "for(const a of process.argv){", "for(const a of process.argv.slice(2)){if(a==='-a')", "const a=()=>a();a();", "[...process.argv,", "x=[...x,...x];", "x+=x+'aaaaaaaa';", "yargs.option('a',{", "a,", ";", "import(", "export ", "let ", "@a ",
		"(a):", "(a):b|", "process.argv.slice(2).filter(a=>", "program.option('-a <b>').", "for(const x of [1,2,3,4,5,6,7,8])for(const y of [1,2,3,4,5,6,7,8])", "a!", "#!", "case 1:", "a<b>(", "a<b<",
	} {
		source := []byte("const x='y';" + strings.Repeat(part, MaxSource/4/len(part)))
		start := time.Now()
		m := NewModule(source)
		m.Runs()
		m.Read("")
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("%q: %v", part, took)
		}
	}
}
