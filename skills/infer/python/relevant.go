package python

// Most functions of a script have nothing to do with its command line. They are
// followed too, for the values that they return, but only so far; those that can
// reach argparse are followed before all.

// findRelevant marks the functions that mention argparse's methods, and those
// that mention these by name.
func findRelevant(body []*stmt) {
	r := &relevance{users: map[string][]*function{}}
	r.statements(body, nil)
	for len(r.queue) > 0 {
		name := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		users := r.users[name]
		delete(r.users, name)
		for _, fn := range users {
			r.mark(fn)
		}
	}
}

type relevance struct {
	users map[string][]*function // functions that mention a name
	queue []string
}

func (r *relevance) mark(fn *function) {
	for ; fn != nil && !fn.relevant; fn = fn.owner {
		fn.relevant = true
		r.queue = append(r.queue, fn.name)
		if fn.class != "" {
			r.queue = append(r.queue, fn.class)
		}
	}
}

func (r *relevance) name(name string, in *function) {
	if in == nil {
		return
	}
	if declares(name) {
		r.mark(in)
	}
	if users := r.users[name]; len(users) == 0 || users[len(users)-1] != in {
		r.users[name] = append(users, in)
	}
}

func (r *relevance) statements(body []*stmt, in *function) {
	for _, s := range body {
		r.statement(s, in)
	}
}

func (r *relevance) statement(s *stmt, in *function) {
	r.node(s.value, in)
	for _, n := range s.targets {
		r.node(n, in)
	}
	for _, n := range s.items {
		r.node(n, in)
	}
	if s.function != nil {
		s.function.owner = in
		r.statements(s.function.body, s.function)
	}
	if s.class != nil {
		for _, member := range s.class.body {
			if member.function != nil {
				member.function.class = s.class.name
			}
		}
		for _, base := range s.class.bases {
			r.node(base, in)
		}
		r.statements(s.class.body, in)
	}
	r.statements(s.body, in)
	for _, handler := range s.handlers {
		r.statements(handler, in)
	}
	r.statements(s.other, in)
	r.statements(s.final, in)
}

func (r *relevance) node(n *node, in *function) {
	if n == nil || in == nil {
		return
	}
	if n.kind == nName || n.kind == nAttribute {
		r.name(n.name, in)
	}
	for _, kid := range n.kids {
		r.node(kid, in)
	}
}
