package privacy

// form is a text with an address that must not be kept. Needle is a part of it that no prefix has, in
// lower case.
type form struct {
	text, needle string
	drop         bool // only drop removes it
}

// forms are those of internal/address that a client may send. No two have the same needle.
var forms = []form{
	{"203.0.113.77", "203.0.113.77", false},
	{"203.0.113.78:3478", "203.0.113.78", false},
	{"http://203.0.113.79:8080/", "203.0.113.79", false},
	{"2001:db8:1:2:3:4:5:61", "3:4:5:61", false},
	{"2001:DB8:A:B::C0DE", "b::c0de", false},
	{"[2001:db8:9:8:7::62]:443", "8:7::62", false},
	{"%5B2001%3Adb8%3A9::63%5D", "::63", false},
	{"fe80::aa:bb:64%eth0", "aa:bb:64", false},
	{"fd00:1:2:3::65", "3::65", false},
	{"::ffff:203.0.113.80", "203.0.113.80", false},
	{"::ffff:c633:6466", "c633:6466", false},
	{"64:ff9b::203.0.113.81", "203.0.113.81", false},
	{"2002:c633:6467::67", "c633:6467", false},
	{"5f3c1e-0b7e.local", "5f3c1e-0b7e", true},
}
