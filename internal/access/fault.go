package access

import "fmt"

// Fault is an error of input: one field, its limit, and the kind of what came. It repeats no
// password and no name.
type Fault struct{ Field, Limit, Got string }

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprintf("%s %s (got %s)", f.Field, f.Limit, f.Got) }
