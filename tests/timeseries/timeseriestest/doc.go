// Package timeseriestest is a hand for tests: programs as processes, the time-series stores that
// tests query, the real collector, and records of calls with the values that stores then have.
package timeseriestest
