// Package eventattr has the attributes (internal/semconv) of an event's fields. Records of the
// pipeline and of the store are read through it, so that one record is the same event either
// way. It knows neither: packages eventlog and eventrow hand it their attributes.
package eventattr
