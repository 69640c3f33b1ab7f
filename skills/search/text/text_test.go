package text_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/search/text"
)

// TestTokens shows the terms of texts.
func TestTokens(t *testing.T) {
	kinds := [...]string{text.Whole: "", text.Joined: "=", text.Part: "<", text.Pair: ":", text.Number: "#"}
	a := text.New()
	for _, test := range []struct{ in, want string }{
		{"Extracting tables", "0extract 1tabl"},
		{"code-review", "0=codereview 0code 1review"},
		{"get_user_id", "0=getuserid 0get 1user 2id"},
		{"JavaScript PowerPoint", "0javascript 0<java 0<script 1powerpoint 1<power 1<point"},
		{"iOS, APIs, PDFReader", "0io 1api 2pdfreader 2<pdf 2<reader"},
		{"C++ and C#, F#!", "0c++ 1and 2c# 3f#"},
		{"10MB in 2 s, v1.2.3", "0#10mb 0<mb 1in 2#2 3s 4=v123 4v1 5#2 6#3"},
		{"1.2.3", "0#1.2.3"},
		{"python3 sha256 mp3", "0python3 0<python 1sha256 1<sha 2mp3"},
		{"the user's don't l'équipe", "0the 1user 2dont 3l 4equip"},
		{"CI/CD docs/guides/intro.md", "0=cicd 0ci 1cd 2doc 3guid 4intro 5md"},
		{"Crème brûlée, ﬁne ＡＢＣ", "0creme 1brule 2fine 3abc"},
		{"文件转换PDF", "0:文件 1:件转 2:转换 3pdf"},
		{"表", "0:表"},
		{"データ", "0:デー 1:ータ"},
		{"таблицы и отчёты", "0таблиц 1и 2отчет"},
		{strings.Repeat("x", 100) + " y", "0y"},
		{"", ""},
	} {
		var got []string
		for token := range a.Tokens(test.in, text.English) {
			got = append(got, fmt.Sprintf("%d%s%s", token.Position, kinds[token.Kind], token.Term))
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.in, got, test.want)
		}
	}
}

// TestDetect: function words, letters and endings show the language of queries and of
// texts.
func TestDetect(t *testing.T) {
	a := text.New()
	for in, want := range map[string]text.Language{
		"extract tables from a PDF":               text.English,
		"deploy":                                  text.English,
		"Rechnungen als PDF erstellen":            text.German,
		"übersetze die Datei":                     text.German,
		"créer un tableau":                        text.French,
		"résumer des réunions":                    text.French,
		"convertir imágenes a PDF":                text.Spanish,
		"revisar el código":                       text.Spanish,
		"criar uma apresentação":                  text.Portuguese,
		"traduzir o texto para inglês":            text.Portuguese,
		"creare una presentazione":                text.Italian,
		"tradurre il testo in inglese":            text.Italian,
		"maak een presentatie":                    text.Dutch,
		"de factuur naar PDF omzetten":            text.Dutch,
		"文件转换":                                    text.English,
		"write unit tests in Go":                  text.English,
		"set up a new repo for me in the cloud":   text.English,
		"Use when someone asks about la carte es": text.English,
	} {
		if got := a.Detect(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	var bodies []string
	size := 0
	filepath.WalkDir(os.Getenv("SKILLS"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Name() == "SKILL.md" {
			body, _ := os.ReadFile(path)
			bodies = append(bodies, string(body))
			size += len(body)
		}
		return nil
	})
	b.SetBytes(int64(10 * size))
	for b.Loop() {
		a := text.New()
		n := 0
		for i := range 10 * len(bodies) {
			body := bodies[i%len(bodies)]
			for range a.Tokens(body, a.Detect(body)) {
				n++
			}
		}
		b.ReportMetric(float64(n), "tokens")
		b.ReportMetric(float64(a.Words()), "words")
	}
}

func FuzzTokens(f *testing.F) {
	for _, seed := range []string{"code-review of PDFReader's 10MB", "l'été à Łódź", "文件转换 データ한국어", "a\xff-b", "x\u0301 ﬁ１０", "\u0300"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		a := text.New()
		language := a.Detect(in)
		position := 0
		for token := range a.Tokens(in, language) {
			if token.Start < 0 || token.Start >= token.End || token.End > len(in) {
				t.Fatalf("%q: bytes %d to %d", in, token.Start, token.End)
			}
			if token.Surface == "" || token.Term == "" || token.ID >= a.Words() {
				t.Fatalf("%q: %+v", in, token)
			}
			if token.Position < position {
				t.Fatalf("%q: position %d after %d", in, token.Position, position)
			}
			position = token.Position
		}
	})
}

// TestInflections: another form of a word has a term in common with it, in each language.
func TestInflections(t *testing.T) {
	a := text.New()
	for _, test := range []struct {
		language   text.Language
		said, form string
	}{
		{text.English, "extracting", "extracts"},
		{text.English, "invoices", "Invoice"},
		{text.German, "Rechnungen", "rechnung"},
		{text.German, "Übersetzungen", "uebersetzung"},
		{text.German, "Verträge", "vertrag"},
		{text.French, "réunions", "réunion"},
		{text.French, "traduire", "traduire"},
		{text.Spanish, "imágenes", "imagen"},
		{text.Spanish, "facturas", "factura"},
		{text.Portuguese, "traduções", "tradução"},
		{text.Italian, "fatture", "fattura"},
		{text.Dutch, "facturen", "factuur"},
		{text.English, "таблицы", "таблица"},
	} {
		in := terms(a, test.said, test.language)
		shared := false
		for term := range terms(a, test.form, test.language) {
			shared = shared || in[term]
		}
		if !shared {
			t.Errorf("%s: %q and %q have no term in common: %v", test.language, test.said, test.form, in)
		}
	}
}

func terms(a *text.Analyzer, of string, language text.Language) map[string]bool {
	all := map[string]bool{}
	for token := range a.Tokens(of, language) {
		all[token.Term] = true
		for _, native := range a.Natives(token.Word, []text.Language{language}) {
			all[native] = true
		}
	}
	return all
}
