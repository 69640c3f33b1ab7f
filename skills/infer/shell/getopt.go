package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// getoptSpec has the options of a call of getopt(1), which puts them in front of the
// other arguments, with "--" between.
type getoptSpec map[string]getoptValue // by flag: "-o", "--out"

// A getoptValue says whether a value follows an option of getopt(1).
type getoptValue int

const (
	noValue getoptValue = iota
	needsValue
	mayHaveValue
)

// resetTo returns the quoted word of eval set -- "…" and eval "set -- …".
func resetTo(call *syntax.CallExpr) *syntax.Word {
	if len(call.Args) == 2 {
		quoted, ok := onlyPart(call.Args[1]).(*syntax.DblQuoted)
		if !ok || len(quoted.Parts) != 2 {
			return nil
		}
		lit, ok := quoted.Parts[0].(*syntax.Lit)
		if !ok || lit.Value != "set -- " {
			return nil
		}
		return &syntax.Word{Parts: quoted.Parts[1:]}
	}
	if len(call.Args) != 4 {
		return nil
	}
	set, _, _ := literal(call.Args[1])
	dashes, _, _ := literal(call.Args[2])
	if _, quoted := onlyPart(call.Args[3]).(*syntax.DblQuoted); set != "set" || dashes != "--" || !quoted {
		return nil // the shell would split the words of one that is not quoted
	}
	return call.Args[3]
}

func onlyPart(word *syntax.Word) syntax.WordPart {
	if word == nil || len(word.Parts) != 1 {
		return nil
	}
	return word.Parts[0]
}

// getoptCall returns the call of getopt whose output a word is, quoted or not, or nil.
func getoptCall(word *syntax.Word) *syntax.CallExpr {
	part := onlyPart(word)
	if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	subst, ok := part.(*syntax.CmdSubst)
	if !ok || len(subst.Stmts) != 1 {
		return nil
	}
	if call, ok := subst.Stmts[0].Cmd.(*syntax.CallExpr); ok && command(call) == "getopt" {
		return call
	}
	return nil
}

// getoptSpec reads the options of a call with all arguments of the script. It is nil for
// a form that does not quote its output, or whose options are computed. Source: getopt(1)
// of util-linux.
func (s *script) getoptSpec(call *syntax.CallExpr) getoptSpec {
	if name, exp, ok := bare(call.Args[len(call.Args)-1]); !ok || exp != nil || name != "@" {
		return nil
	}
	spec := getoptSpec{}
	modern := false // it has -o: an older form does not quote
	words := call.Args[1 : len(call.Args)-1]
	for i := 0; i < len(words); i++ {
		word, _, ok := literal(words[i])
		name, value, joined := strings.Cut(word, "=")
		if ok && word == "--" {
			return pick(spec, modern && i == len(words)-1)
		}
		switch {
		case !ok:
			return nil
		case word == "-q", word == "-a", word == "--quiet", word == "--alternative":
			continue
		case !joined && i+1 < len(words):
			i++
			value, ok = s.constant(words[i])
		case !joined:
			return nil
		}
		switch name {
		case "-n", "--name":
		case "-s", "--shell":
			ok = value == "sh" || value == "bash"
		case "-o", "--options":
			modern = true
			ok = ok && spec.short(value)
		case "-l", "--long", "--longoptions":
			ok = ok && spec.long(value)
		default:
			return nil
		}
		if !ok && name != "-n" && name != "--name" {
			return nil
		}
	}
	return pick(spec, modern)
}

func pick(spec getoptSpec, ok bool) getoptSpec {
	if !ok || len(spec) == 0 || len(spec) > maxOptions {
		return nil
	}
	return spec
}

// short adds the options of a text such as "ho:c::".
func (g getoptSpec) short(letters string) bool {
	if strings.HasPrefix(letters, "-") {
		return false // other arguments stay between the options
	}
	for letters = strings.TrimLeft(letters, "+:"); letters != ""; {
		rest := strings.TrimLeft(letters[1:], ":")
		if flag := "-" + letters[:1]; optionText.MatchString(flag) && !g.add(flag, len(letters)-1-len(rest)) {
			return false
		}
		letters = rest
	}
	return true
}

// long adds the options of a text such as "help,out:,color::".
func (g getoptSpec) long(names string) bool {
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		bare := strings.TrimRight(name, ":")
		if !g.add("--"+bare, len(name)-len(bare)) {
			return false
		}
	}
	return true
}

func (g getoptSpec) add(flag string, colons int) bool {
	if _, twice := g[flag]; twice || colons > 2 || !optionText.MatchString(flag) {
		return false
	}
	g[flag] = getoptValue(colons)
	return true
}

// constant returns the text of a word, or of the variable that it is, if the script
// sets that once and to a text.
func (s *script) constant(word *syntax.Word) (string, bool) {
	if text, _, ok := literal(word); ok {
		return text, true
	}
	p := expansion(word)
	if p == nil || p.Param == nil || odd(p) || p.Exp != nil {
		return "", false
	}
	var values []*syntax.Assign
	contains(s.file, func(n syntax.Node) bool {
		if a, ok := n.(*syntax.Assign); ok && a.Name != nil && a.Name.Value == p.Param.Value && !a.Naked {
			values = append(values, a)
		}
		return false
	})
	if len(values) != 1 || values[0].Append || values[0].Value == nil {
		return "", false
	}
	text, _, ok := literal(values[0].Value)
	return text, ok
}
