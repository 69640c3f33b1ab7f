package exposure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A topic is a word that the names of several skills have.
type topic struct {
	word   string
	skills []int // their indices
}

// Bounds of topics.
const (
	broad   = 10 // a word in more than 1/10 of the names says nothing
	maxWord = 24 // bytes
)

// general reports whether names have a word whatever they are about.
func general(word string) bool {
	switch word {
	case "add", "advanced", "agent", "agents", "an", "and", "app", "best", "build", "builder", "building", "by", "check", "checker", "code", "com",
		"common", "create", "creating", "creation", "creator", "dev", "development", "en", "essentials", "execute", "expert", "find", "for", "framework",
		"from", "general", "generate", "generator", "get", "guide", "helper", "how", "in", "init", "invoke", "is", "local", "manage", "management",
		"manager", "master", "mcp", "my", "new", "of", "on", "or", "patterns", "plugin", "plugins", "practices", "pro", "project", "resources", "run",
		"runner", "setup", "skill", "skills", "system", "task", "tasks", "the", "to", "tool", "tools", "update", "use", "user", "using", "validate",
		"with", "work", "workflow", "workflows", "your":
		return true
	}
	return false
}

// topicsOf returns the topics of skills, the largest first: that of a skill is the one of its
// words that most skills have. The others share their words with none.
func topicsOf(list []*skills.Skill) (topics []topic, others []int) {
	words, holders, has := make([][]string, len(list)), map[string]int{}, map[string][]int{}
	for n, skill := range list {
		words[n] = wordsOf(skill)
		for _, word := range words[n] {
			holders[word]++
		}
	}
	for n := range list {
		best := ""
		for _, word := range words[n] {
			if holders[word] <= max(2, len(list)/broad) && cmp.Or(cmp.Compare(holders[word], holders[best]), cmp.Compare(best, word)) > 0 {
				best = word
			}
		}
		has[best] = append(has[best], n)
	}
	for word, of := range has {
		if word == "" || len(of) < 2 {
			others = append(others, of...)
		} else {
			topics = append(topics, topic{word, of})
		}
	}
	slices.Sort(others)
	slices.SortFunc(topics, func(a, b topic) int { return cmp.Or(len(b.skills)-len(a.skills), cmp.Compare(a.word, b.word)) })
	return topics, others
}

// wordsOf returns the words of the names of a skill and its plugin, each once, without general
// ones.
func wordsOf(skill *skills.Skill) (words []string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(skill.Plugin+" "+skill.Name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		letters := strings.IndexFunc(word, unicode.IsLetter) >= 0
		if letters && len(word) > 1 && len(word) <= maxWord && !general(word) && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// overview names as many topics as fit, each with the number of its skills; "" is none.
func overview(topics []topic, room int) string {
	const head, rest = "\nTopics, by words in their names: ", ", and more"
	var named []string
	room -= len(head) + len(rest)
	for _, t := range topics {
		text := fmt.Sprintf("%s %d", t.word, len(t.skills))
		if room -= len(", ") + len(text); room < 0 {
			break
		}
		named = append(named, text)
	}
	if len(named) == 0 {
		return ""
	}
	return head + strings.Join(named, ", ") + rest
}
