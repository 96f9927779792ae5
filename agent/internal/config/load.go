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
	path := flags.String(configFlag, "", "YAML file with these keys")
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
	if *path != "" {
		text, err := os.ReadFile(*path)
		if err != nil {
			return Config{}, fmt.Errorf("configuration: %w", err)
		}
		if err := fromYAML(flags, text, given); err != nil {
			return Config{}, fmt.Errorf("%s: %w", *path, err)
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
