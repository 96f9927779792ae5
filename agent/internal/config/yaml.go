package config

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// entry is one scalar of the file under its path with dots.
type entry struct {
	key, value string
	line       int
}

// flatten reads YAML as keys and values: mappings give the path, a sequence is a List.
func flatten(text []byte) ([]entry, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	if len(document.Content) == 0 {
		return nil, nil // an empty file tells nothing
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("the file must be a mapping of keys")
	}
	seen := make(map[string]bool)
	var entries []entry
	err := mapping(root, "", func(e entry) error {
		if seen[e.key] {
			return fmt.Errorf("line %d: %s stands there twice", e.line, e.key)
		}
		seen[e.key] = true
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

func mapping(node *yaml.Node, path string, add func(entry) error) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		if err := member(path+name.Value, value, add); err != nil {
			return err
		}
	}
	return nil
}

func member(key string, value *yaml.Node, add func(entry) error) error {
	switch value.Kind {
	case yaml.MappingNode:
		return mapping(value, key+".", add)
	case yaml.ScalarNode:
		return add(entry{key, value.Value, value.Line})
	case yaml.SequenceNode:
		list, err := sequence(key, value)
		if err != nil {
			return err
		}
		return add(entry{key, list, value.Line})
	default:
		return fmt.Errorf("line %d: %s: anchors and aliases are not read", value.Line, key)
	}
}

func sequence(key string, node *yaml.Node) (string, error) {
	var values []string
	for _, v := range node.Content {
		if v.Kind != yaml.ScalarNode || strings.Contains(v.Value, ",") {
			return "", fmt.Errorf("line %d: %s: a list holds plain values without commas", v.Line, key)
		}
		values = append(values, v.Value)
	}
	return strings.Join(values, ","), nil
}
