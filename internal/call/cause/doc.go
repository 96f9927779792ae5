// Package cause finds the most likely cause of a bad call, and the participant at fault, from the
// measurements of all participants.
//
// Find is a pure function of a Call: no clock, no state, no randomness. Each finding has its
// evidence, the values that it was compared with, and a confidence. Where the evidence fits several
// parts of the network equally well, the finding names none of them; where no rule fits, the result
// is Unknown. docs/cause.md explains each cause to an operator, and the limits of the rules.
package cause
