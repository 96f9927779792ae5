// Package rulesextension owns the rules by which a collector assesses calls: the bounds of the
// labels of scores and the thresholds of the detectors. The receiver, the quality processor, the
// conference processor and the dashboard take them from it (package internal/call/rules).
package rulesextension

//go:generate mdatagen metadata.yaml
