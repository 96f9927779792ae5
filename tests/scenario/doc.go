// Package scenario arranges calls between real browsers and impairs them: a Scenario describes who takes part, how they
// are connected (Topology), what impairs the call, and the likely cause that the collector has to find. Play makes
// the call on a Stage; Records has what the collector's receiver emitted.
//
// Listed has the calls with which the rules of internal/call/cause were made. TestLikelyCauses of tests/e2e makes some of
// them, and tests/lab records them, and others that it draws, for tests/cause.
package scenario
