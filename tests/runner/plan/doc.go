// Package plan reads the table of CONTRIBUTING.md that assigns tests to `make test` and `make test-long`. The test
// runner starts tests by it, and tests/house requires that each test package and browser test is listed.
package plan
