// Package address cuts or drops network addresses in texts before anything stores or exports them:
// IPv4 to /24, IPv6 to /48. It is pure: a text in, a text out, in linear time, never longer than the input.
//
// A text is scanned for what has the form of an address, in any context: an SDP, a URL, a stack,
// JSON. Ambiguous forms are cut, for privacy. These exceptions are no addresses:
//
//   - four numbers behind "v" or "version", and in a user agent behind "Name/";
//   - six or more numbers with dots (an OID), and a number above 255;
//   - groups of two hexadecimal digits with single colons (fingerprints, MAC addresses, EUI-64);
//   - one word on each side of "::" (a symbol of C++ or Rust), unless the first is a prefix of
//     addresses in use (2000::/3, fc00::/7, fe80::/10, ff00::/8, 64:ff9b::).
//
// Not found are an address as one number, in hexadecimal or base64, with dashes ("ip-192-0-2-7"),
// or in reverse order (in-addr.arpa).
package address
