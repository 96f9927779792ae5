package config

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fromYAML sets the flags that a file names and that are not given already. Mappings are the
// path of a key, a sequence is a List. A value is its text, not the number that YAML reads in it.
func fromYAML(flags *flag.FlagSet, text []byte, given map[string]bool) error {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("not YAML: %w", err)
	}
	if len(document.Content) == 0 {
		return nil // an empty file sets nothing
	}
	if document.Content[0].Kind != yaml.MappingNode {
		return errors.New("the file must be a mapping of keys")
	}
	seen := make(map[string]bool)
	return leaves("", document.Content[0], func(key string, node *yaml.Node) error {
		if key == configFlag || flags.Lookup(key) == nil {
			return fmt.Errorf("there is no key %q", key)
		}
		value, err := scalar(node)
		if err == nil && seen[key] {
			err = errors.New("is set twice")
		}
		if seen[key] = true; err == nil && !given[key] {
			err = flags.Set(key, value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
}

// leaves calls set for each value of a mapping, under its path with dots, and joins the errors
// with the line of each.
func leaves(path string, mapping *yaml.Node, set func(key string, node *yaml.Node) error) error {
	var errs []error
	for pair := range slices.Chunk(mapping.Content, 2) {
		key, node := path+pair[0].Value, pair[1]
		if node.Kind == yaml.MappingNode {
			errs = append(errs, leaves(key+".", node, set))
		} else if err := set(key, node); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", node.Line, err))
		}
	}
	return errors.Join(errs...)
}

// scalar returns the text of a value, of a sequence as a flag has it.
func scalar(node *yaml.Node) (string, error) {
	switch node.Kind {
	case yaml.ScalarNode:
		return node.Value, nil
	case yaml.SequenceNode:
		var values []string
		for _, v := range node.Content {
			if v.Kind != yaml.ScalarNode || strings.Contains(v.Value, ",") {
				return "", errors.New("a list holds plain values without commas")
			}
			values = append(values, v.Value)
		}
		return strings.Join(values, ","), nil
	default:
		return "", errors.New("anchors and aliases are not read")
	}
}
