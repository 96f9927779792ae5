package config

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// envPrefix stands before the name of each key in the environment, in capitals and with _
// for a dot: QOS_AGENT_KEYS_DIRECTORY.
const envPrefix = "QOS_AGENT_"

// configFlag names the file itself, by flag or as QOS_AGENT_CONFIG.
const configFlag = "config"

// maxConfigBytes bounds the file.
const maxConfigBytes = 1 << 20

// List is several values; in flags and in the environment with commas between.
type List []string

// String is the value of a flag.
func (l *List) String() string { return strings.Join(*l, ",") }

// Set replaces the whole list.
func (l *List) Set(text string) error {
	*l = nil
	for value := range strings.SplitSeq(text, ",") {
		if value = strings.TrimSpace(value); value != "" {
			*l = append(*l, value)
		}
	}
	return nil
}

// Load returns the configuration given by args (without the program's name), environment
// (lookup as os.LookupEnv) and the file that either names. help gets the list of flags when
// they are asked for; the error is then flag.ErrHelp.
func Load(args []string, lookup func(string) (string, bool), help io.Writer) (Config, error) {
	c := Default()
	flags := flag.NewFlagSet("qos-agent serve", flag.ContinueOnError)
	flags.SetOutput(help)
	c.bind(flags)
	file := flags.String(configFlag, "", "YAML file with these keys")
	if err := flags.Parse(args); err != nil {
		return Config{}, fmt.Errorf("flags: %w", err)
	}
	if flags.NArg() > 0 {
		return Config{}, fmt.Errorf("flags: %q is no flag; values follow as --name=value", flags.Arg(0))
	}
	given := make(map[string]bool) // by a flag: nothing else may change it
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := fromEnvironment(flags, lookup, given); err != nil {
		return Config{}, err
	}
	if *file != "" {
		if err := fromFile(flags, *file, given); err != nil {
			return Config{}, err
		}
	}
	return c, c.Validate()
}

// EnvName returns the name of a key in the environment.
func EnvName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

func fromEnvironment(flags *flag.FlagSet, lookup func(string) (string, bool), given map[string]bool) error {
	var errs []error
	flags.VisitAll(func(f *flag.Flag) {
		value, ok := lookup(EnvName(f.Name))
		if !ok || given[f.Name] {
			return
		}
		given[f.Name] = true
		if err := flags.Set(f.Name, value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", EnvName(f.Name), err))
		}
	})
	return errors.Join(errs...)
}

func fromFile(flags *flag.FlagSet, path string, given map[string]bool) error {
	f, err := os.Open(path) //nolint:gosec // G304: the operator names it
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxConfigBytes))
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	entries, err := flatten(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var errs []error
	for _, e := range entries {
		errs = append(errs, apply(flags, e, given))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func apply(flags *flag.FlagSet, e entry, given map[string]bool) error {
	if e.key == configFlag || flags.Lookup(e.key) == nil {
		return fmt.Errorf("line %d: there is no key %q", e.line, e.key)
	}
	if given[e.key] {
		return nil
	}
	if err := flags.Set(e.key, e.value); err != nil {
		return fmt.Errorf("line %d: %s: %w", e.line, e.key, err)
	}
	return nil
}
