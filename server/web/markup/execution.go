package markup

import (
	"fmt"
	"io"
	"reflect"
	"text/template/parse"
)

// maxDepth is the number of templates that may call each other.
const maxDepth = 50

// An execution writes one template.
type execution struct {
	template *Template
	w        io.Writer
	vars     []variable
	depth    int
	at       context
}

type variable struct {
	name  string
	value reflect.Value
}

// execute writes the template name for data.
func (e *execution) execute(name string, data reflect.Value) error {
	tree := e.template.trees[name]
	if tree == nil {
		return fmt.Errorf("there is no template %q", name)
	}
	if e.depth++; e.depth > maxDepth {
		return fmt.Errorf("more than %d templates call each other", maxDepth)
	}
	vars := e.vars
	e.vars = []variable{{"$", data}}
	err := e.write(data, tree.Root)
	e.vars = vars
	e.depth--
	return err
}

// write writes a node for the data dot.
func (e *execution) write(dot reflect.Value, node parse.Node) error {
	switch n := node.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			if err := e.write(dot, child); err != nil {
				return err
			}
		}
		return nil
	case *parse.TextNode:
		var err error
		if e.at, err = e.at.after(string(n.Text)); err == nil {
			_, err = e.w.Write(n.Text)
		}
		return err
	case *parse.CommentNode:
		return nil
	case *parse.ActionNode:
		return e.writeAction(dot, n)
	case *parse.IfNode:
		return e.branch(dot, &n.BranchNode, false)
	case *parse.WithNode:
		return e.branch(dot, &n.BranchNode, true)
	case *parse.RangeNode:
		return e.loop(dot, &n.BranchNode)
	case *parse.TemplateNode:
		value, err := e.pipeline(dot, n.Pipe)
		if err != nil {
			return err
		}
		return e.execute(n.Name, value)
	}
	return fmt.Errorf("%s cannot be used", node)
}

// writeAction prints the value of an action as the place demands, or sets its variable.
func (e *execution) writeAction(dot reflect.Value, n *parse.ActionNode) error {
	if n.Pipe.IsAssign {
		return fmt.Errorf("%s: a variable is set once", n)
	}
	value, err := e.pipeline(dot, n.Pipe)
	if err != nil || len(n.Pipe.Decl) > 0 {
		return err
	}
	text := print(value)
	switch e.at.place {
	case inText:
		if _, markup := concrete(value).(HTML); !markup {
			text = escape(text)
		}
	case inValue:
		text = [...]func(string) string{noURL: escape, begin: escapeURL, address: escapePath, query: escapeQuery}[e.at.url](text)
		if e.at.url == begin {
			e.at.url = address
		}
	default:
		return fmt.Errorf("%s prints where no text or attribute value is", n)
	}
	_, err = io.WriteString(e.w, text)
	return err
}

// branch writes one of the lists of an if or a with.
func (e *execution) branch(dot reflect.Value, n *parse.BranchNode, with bool) error {
	defer e.leave(len(e.vars))
	value, err := e.pipeline(dot, n.Pipe)
	if err != nil {
		return err
	}
	if !truth(value) {
		return e.writeElse(dot, n)
	}
	if with {
		dot = value
	}
	return e.write(dot, n.List)
}

func (e *execution) writeElse(dot reflect.Value, n *parse.BranchNode) error {
	if n.ElseList == nil {
		return nil
	}
	return e.write(dot, n.ElseList)
}

// leave forgets the variables of a block.
func (e *execution) leave(n int) { e.vars = e.vars[:n] }

// loop writes the list of a range for each element of a slice.
func (e *execution) loop(dot reflect.Value, n *parse.BranchNode) error {
	block := len(e.vars)
	defer e.leave(block)
	value, err := e.command(dot, n.Pipe)
	if err != nil {
		return err
	}
	value = indirect(value)
	switch {
	case value.IsValid() && value.Kind() != reflect.Slice:
		return fmt.Errorf("%s is no list: %s", n.Pipe, value.Kind())
	case !truth(value):
		return e.writeElse(dot, n)
	}
	for i := range value.Len() {
		e.leave(block)
		element := value.Index(i)
		for at, v := range n.Pipe.Decl {
			this := element
			if at == 0 && len(n.Pipe.Decl) == 2 {
				this = reflect.ValueOf(i)
			}
			e.vars = append(e.vars, variable{v.Ident[0], this})
		}
		if err := e.write(element, n.List); err != nil {
			return err
		}
	}
	return nil
}

// pipeline returns the value of a pipeline, and sets the variables that it declares.
func (e *execution) pipeline(dot reflect.Value, pipe *parse.PipeNode) (reflect.Value, error) {
	if pipe == nil { // {{template "name"}}
		return reflect.Value{}, nil
	}
	value, err := e.command(dot, pipe)
	for _, v := range pipe.Decl {
		e.vars = append(e.vars, variable{v.Ident[0], value})
	}
	return value, err
}

// command returns the value of the one command of a pipeline.
func (e *execution) command(dot reflect.Value, pipe *parse.PipeNode) (reflect.Value, error) {
	if len(pipe.Cmds) != 1 {
		return reflect.Value{}, fmt.Errorf("%s: a function has its arguments after it, not before a |", pipe)
	}
	args := pipe.Cmds[0].Args
	if function, ok := args[0].(*parse.IdentifierNode); ok {
		value, err := e.call(dot, function.Ident, args[1:])
		if err != nil {
			err = fmt.Errorf("%s: %w", pipe, err)
		}
		return value, err
	}
	if len(args) > 1 {
		return reflect.Value{}, fmt.Errorf("%s: methods have no arguments", pipe)
	}
	return e.value(dot, args[0])
}

// value returns the value of an operand.
func (e *execution) value(dot reflect.Value, node parse.Node) (reflect.Value, error) {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.StringNode:
		return reflect.ValueOf(n.Text), nil
	case *parse.NumberNode:
		if !n.IsInt {
			return reflect.Value{}, fmt.Errorf("%s is no whole number", n)
		}
		return reflect.ValueOf(int(n.Int64)), nil
	case *parse.PipeNode:
		return e.pipeline(dot, n)
	case *parse.IdentifierNode:
		return e.call(dot, n.Ident, nil)
	case *parse.FieldNode:
		return e.fields(dot, n.Ident)
	case *parse.ChainNode:
		value, err := e.value(dot, n.Node)
		if err != nil {
			return value, err
		}
		return e.fields(value, n.Field)
	case *parse.VariableNode:
		for i := len(e.vars) - 1; i >= 0; i-- {
			if e.vars[i].name == n.Ident[0] {
				return e.fields(e.vars[i].value, n.Ident[1:])
			}
		}
	}
	return reflect.Value{}, fmt.Errorf("%s cannot be used", node)
}

// fields returns the field of a field of …, by the names in their order.
func (e *execution) fields(value reflect.Value, names []string) (reflect.Value, error) {
	for _, name := range names {
		var err error
		if value, err = e.field(value, name); err != nil {
			return value, err
		}
	}
	return value, nil
}

// field returns a field of a struct, the value of a map for a key, or the result of a
// method. A key that a map does not have is no error.
func (e *execution) field(value reflect.Value, name string) (reflect.Value, error) {
	inner := indirect(value)
	switch inner.Kind() {
	case reflect.Map:
		return inner.MapIndex(reflect.ValueOf(name)), nil
	case reflect.Struct:
		if field := inner.FieldByName(name); field.IsValid() && field.CanInterface() {
			return field, nil
		}
	}
	for _, method := range e.template.methods[name] {
		if receiver, ok := assignable(value, method.Type().In(0)); ok {
			return apply(method, []reflect.Value{receiver})
		}
	}
	return reflect.Value{}, fmt.Errorf("there is no field %s in %s, nor such a method in the options", name, typeName(value))
}

// call calls a function.
func (e *execution) call(dot reflect.Value, name string, nodes []parse.Node) (reflect.Value, error) {
	if name == "and" || name == "or" {
		return e.shortCircuit(dot, name == "or", nodes)
	}
	args := make([]reflect.Value, len(nodes))
	for i, node := range nodes {
		var err error
		if args[i], err = e.value(dot, node); err != nil {
			return args[i], err
		}
	}
	return apply(e.template.functions[name], args)
}

// shortCircuit returns the first operand whose truth decides, or the last.
func (e *execution) shortCircuit(dot reflect.Value, decides bool, nodes []parse.Node) (value reflect.Value, err error) {
	for _, node := range nodes {
		if value, err = e.value(dot, node); err != nil || truth(value) == decides {
			return value, err
		}
	}
	return value, nil
}

// apply calls a function.
func apply(function reflect.Value, args []reflect.Value) (reflect.Value, error) {
	t := function.Type()
	fixed := t.NumIn()
	if t.IsVariadic() {
		fixed--
	}
	if len(args) < fixed || len(args) > fixed && !t.IsVariadic() {
		return reflect.Value{}, fmt.Errorf("it has %d arguments, not %d", fixed, len(args))
	}
	for i, arg := range args {
		want := t.In(min(i, fixed))
		if i >= fixed {
			want = want.Elem()
		}
		var ok bool
		if args[i], ok = assignable(arg, want); !ok {
			return reflect.Value{}, fmt.Errorf("argument %d is a %s, not a %s", i+1, typeName(arg), want)
		}
	}
	results := function.Call(args)
	if len(results) == 2 && !results[1].IsNil() {
		return reflect.Value{}, results[1].Interface().(error)
	}
	return results[0], nil
}
