// Package quality scores media streams and pools the scores. It is pure: no clock, no
// state, no I/O, the standard library only.
//
// Audio is scored with the E-model (ITU-T G.107, G.107.1, G.107.2), video with a
// parametric model of our own; docs/quality.md explains both to an operator, with
// their sources and limits. With all coefficients, a score
//
//   - is that of one interval, by the measurements of it, and does not depend on its length;
//   - never rises when loss, delay, concealment, freezes or the bit rate get worse;
//   - stays in its range and is never NaN;
//   - is absent, with a reason, where there is no evidence.
package quality
