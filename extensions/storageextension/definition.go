package storageextension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensioncapabilities"

	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/quality"
)

// What is in the store was labelled by the quality processor, summed up by the conference
// processor, sent by the library, and is folded again by the dashboard. Each of them has its
// bounds of labels, and two their detectors, from its own part of the configuration. Every
// collector with a store has this extension, so it refuses to start where they differ.

var _ extensioncapabilities.ConfigSnapshotWatcher = (*store)(nil)

// NotifyConfigSnapshot refuses a configuration in which there is more than one definition of
// labels, or of detectors. The collector asks before it starts any pipeline.
func (*store) NotifyConfigSnapshot(_ context.Context, s extensioncapabilities.ConfigSnapshot) error {
	return oneDefinition(s.Effective())
}

// oneDefinition compares the components that are in use. Errors name the keys.
func oneDefinition(conf *confmap.Conf) error {
	var labels, detectors []definition
	for _, key := range inUse(conf) {
		part, name, _ := strings.Cut(key, "::")
		kind, _, _ := strings.Cut(name, "/")
		switch part + "::" + kind {
		case "receivers::qoswss":
			labels = append(labels, definition{key: key + "::labels_mos", read: readBounds})
		case "processors::quality":
			labels = append(labels, definition{key: key + "::labels", read: readLabels})
		case "processors::conference", "extensions::qosdashboard":
			labels = append(labels, definition{key: key + "::labels", read: readLabels})
			detectors = append(detectors, definition{key: key + "::detectors", read: readDetectors})
		}
	}
	return errors.Join(same(conf, labels), same(conf, detectors))
}

// inUse lists the components that are started, as keys, in order.
func inUse(conf *confmap.Conf) (keys []string) {
	add := func(part string, names any) {
		list, _ := names.([]any)
		for _, name := range list {
			keys = append(keys, fmt.Sprintf("%s::%v", part, name))
		}
	}
	add("extensions", conf.Get("service::extensions"))
	pipelines, _ := conf.Get("service::pipelines").(map[string]any)
	for _, pipeline := range pipelines {
		parts, _ := pipeline.(map[string]any)
		add("receivers", parts["receivers"])
		add("processors", parts["processors"])
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// definition is where something is defined that stands in several places.
type definition struct {
	key  string
	read func(conf *confmap.Conf, key string) (any, error) // the value is comparable
}

// same reports those that differ from the first.
func same(conf *confmap.Conf, all []definition) error {
	var errs []error
	var first any
	for i, d := range all {
		v, err := d.read(conf, d.key)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", d.key, err))
		case first == nil:
			first, all[0] = v, all[i]
		case v != first:
			errs = append(errs, fmt.Errorf("%s and %s differ%s: write them once, as docs/quality.md shows", all[0].key, d.key, difference(first, v)))
		}
	}
	return errors.Join(errs...)
}

// difference says how two values of the same kind differ.
func difference(a, b any) string {
	if a, ok := a.(detect.Config); ok {
		return " in " + strings.Join(a.Differing(b.(detect.Config)), ", ")
	}
	return fmt.Sprintf(", %v and %v", a, b)
}

func readBounds(conf *confmap.Conf, key string) (any, error) {
	return labelsOf(map[string]any{"mos": conf.Get(key)})
}

func readLabels(conf *confmap.Conf, key string) (any, error) {
	labels, _ := conf.Get(key).(map[string]any)
	return labelsOf(labels)
}

func labelsOf(labels map[string]any) (any, error) {
	var c quality.LabelsConfig
	if err := confmap.NewFromStringMap(labels).Unmarshal(&c); err != nil {
		return nil, err
	}
	return c.Bounds()
}

func readDetectors(conf *confmap.Conf, key string) (any, error) {
	detectors, _ := conf.Get(key).(map[string]any)
	c := detect.DefaultConfig()
	if err := confmap.NewFromStringMap(detectors).Unmarshal(&c); err != nil {
		return nil, err
	}
	return c, nil
}
