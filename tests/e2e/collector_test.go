package e2e

import "os"

// built is the collector binary, made once.
var built struct{ dir string }

func cleanUp() error {
	if built.dir == "" {
		return nil
	}
	return os.RemoveAll(built.dir)
}
