// Package mask replaces names of people in texts that applications and browsers write. It is pure: it depends on no
// other package of the project.
package mask
