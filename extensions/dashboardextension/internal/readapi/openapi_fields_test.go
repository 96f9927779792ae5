//go:build !fuzz

package readapi

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
)

// fieldComments are the comments of the fields of structs, by package path, type and field. A package is read once.
type fieldComments map[string]map[string]map[string]string

// sources has what was read, for all tests.
var sources = fieldComments{}

// of returns the comment of a field: what its type's source has above it and behind it.
func (c fieldComments) of(t *testing.T, owner reflect.Type, field string) string {
	t.Helper()
	if c[owner.PkgPath()] == nil {
		c[owner.PkgPath()] = commentsOf(t, owner.PkgPath())
	}
	return c[owner.PkgPath()][owner.Name()][field]
}

// commentsOf reads the structs of a package of this module.
func commentsOf(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	inModule, ours := strings.CutPrefix(path, "github.com/qosrtc/qos/")
	require.True(t, ours, path)
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", inModule, "*.go"))
	require.NoError(t, err)
	out := map[string]map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if body, ok := spec.Type.(*ast.StructType); ok {
					out[spec.Name.Name] = fieldsOf(body)
				}
			}
			return true
		})
	}
	return out
}

func fieldsOf(body *ast.StructType) map[string]string {
	out := map[string]string{}
	for _, f := range body.Fields.List {
		text := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
		for _, name := range f.Names {
			out[name.Name] = text
		}
	}
	return out
}

// describer makes schemas of which each field has the comment of its Go field as its description.
type describer struct {
	missing []string // fields without one
}

// schema returns that of a type.
func (d *describer) schema(t *testing.T, of reflect.Type) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[stream](): {Type: "object"}, reflect.TypeFor[customPoints](): {Type: "object"},
	}})
	require.NoError(t, err)
	d.describe(t, s, of)
	return s
}

// describe writes descriptions into the schema of a type.
func (d *describer) describe(t *testing.T, s *jsonschema.Schema, of reflect.Type) {
	t.Helper()
	switch of.Kind() {
	case reflect.Pointer:
		d.describe(t, s, of.Elem())
	case reflect.Map:
		d.describe(t, s.AdditionalProperties, of.Elem())
	case reflect.Slice:
		if of == reflect.TypeFor[customPoints]() {
			*s = *columns(map[string]string{"t": "times, in ms since the Unix epoch", "value": "the value at each time, a mean where there are too many"})
			return
		}
		d.describe(t, s.Items, of.Elem())
	case reflect.Struct:
		if of == reflect.TypeFor[stream]() {
			*s = *d.streamSchema(t)
			return
		}
		d.fields(t, s, of)
	}
}

func (d *describer) fields(t *testing.T, s *jsonschema.Schema, of reflect.Type) {
	t.Helper()
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			d.fields(t, s, f.Type)
		case f.IsExported() && name != "-":
			one := s.Properties[name]
			require.NotNil(t, one, "%s of %s", name, of)
			d.describe(t, one, f.Type)
			if f.Type.Kind() == reflect.Interface && name == "summary" {
				*one = *d.summarySchema(t)
			}
			if one.Description = sources.of(t, of, f.Name); one.Description == "" {
				d.missing = append(d.missing, of.String()+"."+f.Name)
			}
		}
	}
}

// columns is the schema of arrays of the same length.
func columns(texts map[string]string) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for name, text := range texts {
		out.Properties[name] = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Types: []string{"number", "null"}}, Description: text}
	}
	return out
}

// columnTexts describe the columns, for readers of the API.
var columnTexts = [columnCount]string{
	"score, MOS 1 to 5", "bit rate in kbit/s", "lost packets over expected ones, 0 to 1", "jitter in ms, at the receiver", "round-trip time in ms",
	"frames per second", "height of the picture in pixels", "share of the interval in which the picture was frozen, 0 to 1",
	"concealed samples over all samples, 0 to 1", "delay of the jitter buffer in ms", "sent over the candidate pair in kbit/s",
	"received over the candidate pair in kbit/s", "estimated bit rate that can be sent, in kbit/s", "estimated bit rate that can be received, in kbit/s",
	"label of the score as a number, 5 for excellent to 1 for bad",
}

// streamSchema is that of a stream: its head, and its columns.
func (d *describer) streamSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s := d.schema(t, reflect.TypeFor[streamHead]())
	texts := map[string]string{"t": "end of each interval, in ms since the Unix epoch; a point is the mean of recordsPerPoint intervals"}
	for c, name := range columnNames {
		texts[name] = columnTexts[c] + ", at each of t; absent if it was never measured"
	}
	s.Properties["recordsPerPoint"] = &jsonschema.Schema{Type: "integer", Description: "intervals of which each point is the mean"}
	maps.Copy(s.Properties, columns(texts).Properties)
	s.Required = append(s.Required, "recordsPerPoint", "t")
	return s
}

// summarySchema is that of the document of a summary. A document lacks what its reader may not see, and what was not
// known to the collector that wrote it.
func (d *describer) summarySchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s := d.schema(t, reflect.TypeFor[conference.Summary]())
	s.Type, s.Types = "", []string{"object", "null"}
	optional(s)
	return s
}

// optional makes all fields optional, and permits others.
func optional(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		s.Required, s.AdditionalProperties = nil, nil
	}
	for _, one := range s.Properties {
		optional(one)
	}
	optional(s.Items)
	optional(s.AdditionalProperties)
}

// Each field of each answer has a description in the document.
func TestOpenAPIDescribesEachField(t *testing.T) {
	var doc struct {
		Components struct{ Schemas map[string]any }
	}
	require.NoError(t, json.Unmarshal(openAPI, &doc))
	require.NotEmpty(t, doc.Components.Schemas)
	var walk func(path string, v any)
	fields := 0
	walk = func(path string, v any) {
		s, _ := v.(map[string]any)
		properties, _ := s["properties"].(map[string]any)
		for name, one := range properties {
			fields++
			text, _ := one.(map[string]any)["description"].(string)
			require.NotEmpty(t, text, "%s.%s has no description: comment the Go field", path, name)
			walk(path+"."+name, one)
		}
		walkInto(s, func(one any) { walk(path+"[]", one) })
	}
	for name, s := range doc.Components.Schemas {
		walk(name, s)
	}
	t.Logf("%d fields", fields)
}

// walkInto calls walk for the elements of arrays and of maps.
func walkInto(s map[string]any, walk func(any)) {
	for _, name := range []string{"items", "additionalProperties"} {
		if one, ok := s[name].(map[string]any); ok {
			walk(one)
		}
	}
}
