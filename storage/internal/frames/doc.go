// Package frames is what engines of the store do alike with records: it groups them into
// rows, encodes what a row carries compactly, cuts off what is stored already, and gives
// rows and chunks back as records in order.
package frames
