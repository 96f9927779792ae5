// Package bench is what programs that measure share: a core for each side, so that neither takes the other's time,
// quantiles, the load of the machine, and sections of documents that hold their tables.
package bench
