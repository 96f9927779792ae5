// Package mask replaces names of people in texts that applications and browsers write. It is pure: it knows
// no record and no reader.
package mask
