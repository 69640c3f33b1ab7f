package text

import "strings"

const (
	// mostSampled is the number of words that show the language of a text.
	mostSampled = 150
	// mostSpelled is the number of words whose letters and endings count. A longer
	// text has function words.
	mostSpelled = 12
)

// Scores of a word for a language. A function word of several languages shows less.
const (
	scoreOwn    = 4
	scoreShared = 2
	scoreLetter = 2
	scoreEnding = 1
)

// Detect returns the language of a text by its function words, and for a short one by
// its letters and endings, too. It is English where nothing shows another.
func (a *Analyzer) Detect(text string) Language {
	var scores [languageCount]int
	words := 0
	for at := 0; words < mostSampled; words++ {
		start, end, isDense := nextRun(text, at)
		if start == end {
			break
		}
		if at = end; !isDense {
			a.score(&scores, text[start:end], words < mostSpelled)
		}
	}
	best := English
	for language, score := range scores {
		if score > scores[best] {
			best = Language(language)
		}
	}
	return best
}

// score adds the evidence of the first words of a run.
func (a *Analyzer) score(scores *[languageCount]int, run string, spelled bool) {
	var few [mostJoined]segment
	for i, s := range segments(few[:0], run) {
		if i > 1 {
			break
		}
		word := lower(run[s.start:s.end])
		in := a.function[word]
		if in == 0 && spelled {
			scoreSpelling(scores, word)
		}
		for language := English; in != 0 && language < languageCount; language++ {
			switch {
			case in == 1<<language:
				scores[language] += scoreOwn
			case in&(1<<language) != 0:
				scores[language] += scoreShared
			}
		}
	}
}

// scoreSpelling adds the evidence of letters and endings.
func scoreSpelling(scores *[languageCount]int, word string) {
	for language := German; language < languageCount; language++ {
		endings, letters := spelling(language)
		if !isASCII(word) && strings.ContainsAny(word, letters) {
			scores[language] += scoreLetter
		}
		for ending := range strings.FieldsSeq(endings) {
			if strings.HasSuffix(word, ending) && len(word) > len(ending)+2 {
				scores[language] += scoreEnding
				break
			}
		}
	}
}

// spelling returns endings and letters of a language that are rare in English.
func spelling(language Language) (endings, letters string) {
	switch language {
	case German:
		return "ungen ung keit lich isch ieren schaft tät", "äöüß"
	case French:
		return "aux eurs eux ité ités ées ée oir eau", "éèêëàâçôîïûùœ"
	case Spanish:
		return "ción ciones dad dades ando iendo illo", "ñáéíóú"
	case Portuguese:
		return "ção ções dade ões ão agem eiro", "ãõçáâêéíóôú"
	case Italian:
		return "zione zioni mente are ità aggio ello", "àèìòù"
	case Dutch:
		return "heid ingen lijk lijke tie ties aal", "ĳ"
	}
	return "", ""
}
