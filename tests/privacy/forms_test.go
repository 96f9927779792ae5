package privacy

// form is a text with an address that must not be kept. Needle is a part of it that no prefix has, in
// lower case.
type form struct {
	text, needle string
	drop         bool // only drop removes it

	// of user IDs
	hello string                    // text of the hello, which precedes all other users; empty: text
	user  string                    // in members that hold an ID; empty: bob
	ids   map[string]map[string]any // members of messages, by type
}

// forms are those of receivers/qoswssreceiver/internal/address that a client may send. No two have the same needle.
var forms = []form{
	{text: "203.0.113.77", needle: "203.0.113.77"},
	{text: "203.0.113.78:3478", needle: "203.0.113.78"},
	{text: "http://203.0.113.79:8080/", needle: "203.0.113.79"},
	{text: "2001:db8:1:2:3:4:5:61", needle: "3:4:5:61"},
	{text: "2001:DB8:A:B::C0DE", needle: "b::c0de"},
	{text: "[2001:db8:9:8:7::62]:443", needle: "8:7::62"},
	{text: "%5B2001%3Adb8%3A9::63%5D", needle: "::63"},
	{text: "fe80::aa:bb:64%eth0", needle: "aa:bb:64"},
	{text: "fd00:1:2:3::65", needle: "3::65"},
	{text: "::ffff:203.0.113.80", needle: "203.0.113.80"},
	{text: "::ffff:c633:6466", needle: "c633:6466"},
	{text: "64:ff9b::203.0.113.81", needle: "203.0.113.81"},
	{text: "2002:c633:6467::67", needle: "c633:6467"},
	{text: "5f3c1e-0b7e.local", needle: "5f3c1e-0b7e", drop: true},
}
