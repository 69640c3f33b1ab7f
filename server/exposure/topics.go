package exposure

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A topic is a word that the names of several skills have.
type topic struct {
	word   string
	skills []int // indices of those that have no earlier topic
}

// Bounds of topics.
const (
	maxTopics = 150
	broad     = 10 // a word in more than 1/10 of the names says nothing
	maxWord   = 24 // bytes
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

// topicsOf returns the topics of skills, the largest first: each is the word that most of the
// skills without an earlier topic have. The others share their words with none.
func topicsOf(list []*skills.Skill) (topics []topic, others []int) {
	words, holders, of := index(list)
	left := make([]int, len(words)) // skills without a topic, by word
	for id := range words {
		left[id] = len(holders[id])
	}
	taken := make([]bool, len(list))
	for len(topics) < maxTopics && len(left) > 0 {
		best := slices.Index(left, slices.Max(left))
		if left[best] < 2 {
			break
		}
		t := topic{word: words[best]}
		for _, n := range holders[best] {
			if !taken[n] {
				taken[n], t.skills = true, append(t.skills, n)
				for _, id := range of[n] {
					left[id]--
				}
			}
		}
		topics = append(topics, t)
	}
	for n := range list {
		if !taken[n] {
			others = append(others, n)
		}
	}
	return topics, others
}

// index returns the words of skills, sorted, the skills of each word, and the words of each
// skill; none of words that one skill has, or too many.
func index(list []*skills.Skill) (words []string, holders, of [][]int) {
	all := map[string][]int{}
	for n, skill := range list {
		for _, word := range wordsOf(skill) {
			all[word] = append(all[word], n)
		}
	}
	maps.DeleteFunc(all, func(_ string, has []int) bool { return len(has) < 2 || len(has) > max(2, len(list)/broad) })
	words, of = slices.Sorted(maps.Keys(all)), make([][]int, len(list))
	for id, word := range words {
		holders = append(holders, all[word])
		for _, n := range all[word] {
			of[n] = append(of[n], id)
		}
	}
	return words, holders, of
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
