package approval

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

const (
	// maxSentence bounds the first sentence without its choice, in bytes: who wants what.
	maxSentence = 120
	// maxArgument bounds the value of an argument there.
	maxArgument = 32
)

// sentence returns the first sentence of the question, without its end: who wants what, with
// which arguments. complete reports that each argument is there, and whole.
func sentence(q *Question) (text string, complete bool) {
	var reaches string
	for most := 40; ; most -= 4 {
		if text, reaches = wants(q, most); len(text+reaches) < maxSentence-len(" (arguments: 99)") || most <= 12 {
			break
		}
	}
	if len(q.Args) == 0 {
		return text + reaches, true
	}
	args, complete := briefly(q, maxSentence-len(text+reaches))
	if !complete && reaches != "" { // the hosts are below, and the arguments perhaps cut
		reaches = " and connect to 1 host"
		if n := len(q.Hosts); n > 1 {
			reaches = fmt.Sprintf(" and connect to %d hosts", n)
		}
		args, complete = briefly(q, maxSentence-len(text+reaches))
	}
	return text + args + reaches, complete
}

// briefly returns the arguments in parentheses, as many as there is room for. complete
// reports that each is there, and whole.
func briefly(q *Question, room int) (text string, complete bool) {
	var args []string
	room, complete = room-len(" (, and 99 more)"), true
	for i, a := range q.Args {
		shown, all := a.brief(q.Home)
		if room -= len(shown) + len(", "); room < 0 {
			args, complete = append(args, fmt.Sprintf("and %d more", len(q.Args)-i)), false
			break
		}
		args, complete = append(args, shown), complete && all
	}
	if room < 0 && len(args) == 1 {
		args[0] = fmt.Sprintf("arguments: %d", len(q.Args))
	}
	return " (" + strings.Join(args, ", ") + ")", complete
}

// wants returns the sentence before and after the arguments, with at most most bytes of each
// text in it. Hosts come last: some clients show 95 characters, and all hosts below.
func wants(q *Question, most int) (text, reaches string) {
	who := said(q.Skill, most)
	switch {
	case q.Review != nil:
		return who + " wants to install a skill", ""
	case q.Fetch != nil:
		return fmt.Sprintf("%s wants to be fetched from %s and used (%s)", who, said(q.Fetch.Address, most), size(q.Fetch)), ""
	case q.Trust != nil:
		return fmt.Sprintf("%s wants to run, which takes your trust in all skills of %s", who, folder(q.Home, q.Trust.Workspace, most)), ""
	}
	var does []string
	if q.Code {
		does = []string{"run " + wroteCode}
	}
	if len(q.Writes) > 0 {
		does = append(does, "change files in "+folders(q.Home, q.Writes, most))
	} else if len(q.Reads) > 0 && !q.Code {
		does = append(does, "read files in "+folders(q.Home, q.Reads, most))
	}
	if len(q.Hosts) > 0 {
		connect := "connect to " + firstHost(q.Hosts, most+12)
		if q.Code || len(does) == 0 { // code is longer than any host
			does = append(does, connect)
		} else {
			reaches = " and " + connect
		}
	}
	if len(does) == 0 {
		does = []string{"run with no access to your files or the network"}
	}
	return who + " wants to " + strings.Join(does, " and "), reaches
}

// folder returns a folder for a sentence: below the person's home folder it begins with ~.
func folder(home, path string, most int) string {
	if below, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		path = "~/" + filepath.ToSlash(below)
	}
	return said(path, most)
}

// folders returns the first of some folders, and the number of the others.
func folders(home string, paths []string, most int) string {
	return and(folder(home, paths[0], most), len(paths)-1)
}

// and adds the number of the texts that are not shown.
func and(text string, more int) string {
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// effects returns the grant in words, after "It may".
func effects(q *Question) string {
	const most = 60
	files := "read none of your files"
	switch {
	case len(q.Writes) > 0:
		files = "change files in " + folders(q.Home, q.Writes, most)
	case len(q.Reads) > 0:
		files = "read, and not change, files in " + folders(q.Home, q.Reads, most)
	}
	hosts, variables := "no host", "none of your variables"
	if len(q.Hosts) > 0 {
		hosts = firstHost(q.Hosts, most)
	}
	if len(q.Variables) > 0 {
		variables = "your variables " + first(1, q.Variables, most)
	}
	if len(q.Secrets) > 0 {
		kind, _, _ := strings.Cut(q.Secrets[0], ":") // as "TOKEN, masked"
		variables += " and your secret " + first(1, append([]string{kind}, q.Secrets[1:]...), most)
	}
	return "connect to " + hosts + "; " + files + "; use " + variables
}

// choice returns the end of the first sentence in a form: the answers.
func choice(q *Question) string {
	if q.Review != nil || q.Fetch != nil || q.Trust != nil {
		return ", yes or no?"
	}
	words := map[Scope]string{Once: "once", Session: "for this session", Always: "always"}
	var all []string
	for _, scope := range q.Scopes {
		all = append(all, words[scope])
	}
	return ", " + strings.Join(all, " or ") + "?"
}

// first returns the first n of some texts, and the number of the others.
func first(n int, texts []string, most int) string {
	var all []string
	for _, text := range texts[:min(n, len(texts))] {
		all = append(all, said(text, most))
	}
	return and(strings.Join(all, ", "), len(texts)-n)
}

// firstHost is first for one host, of which the end tells whose one is.
func firstHost(hosts []string, most int) string {
	if cut := len(hosts[0]) - most; cut > 0 {
		hosts = append([]string{hosts[0][cut+len("…"):]}, hosts[1:]...)
		return "…" + first(1, hosts, most)
	}
	return first(1, hosts, most)
}

// letters are the characters of a text that nobody takes for several words.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+*~-"

// said returns a stranger's text for a sentence, in at most most bytes: one word as it is, and
// everything else in quotes that nothing in it can end.
func said(text string, most int) string {
	if text == "" || strings.Trim(text, letters) != "" {
		text = quote(strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Pi, unicode.Pf) || strings.ContainsRune("„‟″＂", r) {
				return '\''
			}
			return r
		}, text))
	}
	return shorten(text, most)
}

// brief returns an argument for a sentence. complete reports that nothing of it is missing.
func (a Argument) brief(home string) (text string, complete bool) {
	value, given := said(a.Value, math.MaxInt), ""
	switch {
	case len(a.Value) != a.Size:
	case strings.HasPrefix(a.Value, `"`) && json.Unmarshal([]byte(a.Value), &given) == nil:
		value = folder(home, given, math.MaxInt)
	case len(a.Value) <= maxArgument: // its strings are in quotes
		value = termtext.Visible(a.Value)
	}
	return said(a.Name, maxArgument/2) + "=" + shorten(value, maxArgument), len(a.Value) == a.Size && len(value) <= maxArgument
}
