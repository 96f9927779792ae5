// Package consistency holds the parts of the road that decide the same thing twice against
// each other: the store and the conference state both say what a conference is, and both
// read the same records.
package consistency
