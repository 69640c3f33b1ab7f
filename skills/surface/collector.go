package surface

// A collector gathers the items of one surface.
type collector struct {
	items   map[string]Item // by key
	texts   []Text
	entries []string
}

func newCollector() *collector { return &collector{items: map[string]Item{}} }

// add adds an item, unless there is one of its kind and value.
func (c *collector) add(i Item) {
	i.Value, i.Text = shorten(i.Value), passage(i.Text)
	if i.Value == i.Text {
		i.Text = ""
	}
	if _, there := c.items[i.key()]; !there {
		c.items[i.key()] = i
	}
}

// A Text is a text of the skill that a model reads.
type Text struct {
	// Name is the path of a file, or [NameText], [DescriptionText] or [WhenText].
	Name string `json:"name"`
	// Content is the beginning of the text, with "\n" as line end.
	Content string `json:"content"`
	// Digest is that of the whole text.
	Digest string `json:"digest"`
}

// The names of texts that are no files. No path of a folder begins with a colon here.
const (
	NameText        = ":name"
	DescriptionText = ":description"
	WhenText        = ":when to use"
)

// newText returns a text with its beginning.
func newText(name, content string) Text {
	return Text{Name: name, Content: content[:min(len(content), maxText)], Digest: digest(content)}
}

// The limits of the texts that a surface holds, in bytes.
const (
	maxText  = 32 << 10
	maxTexts = 192 << 10
)

// keep adds a text that a model reads, while there is room.
func (c *collector) keep(name, content string) {
	t := newText(name, content)
	size := 0
	for _, other := range c.texts {
		size += len(other.Content)
	}
	if size+len(t.Content) > maxTexts {
		t.Content = ""
	}
	c.texts = append(c.texts, t)
}
