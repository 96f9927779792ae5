package event

import "strings"

// Client describes the client of a session, by its hello. Empty texts are unknown.
type Client struct {
	SiteID             string
	ApplicationVersion string
	UserAgent          string
}

// UnknownBrowser is the family of a user agent that matches none of the known browsers.
const UnknownBrowser = "other"

// families are the browsers and their tokens. The first token that occurs determines the family, since
// Chromium's browsers name Chrome and Safari too.
var families = []struct{ token, family string }{
	{"Edg/", "edge"},
	{"EdgA/", "edge"},
	{"EdgiOS/", "edge"},
	{"Edge/", "edge"},
	{"OPR/", "opera"},
	{"OPT/", "opera"},
	{"Firefox/", "firefox"},
	{"FxiOS/", "firefox"},
	{"SamsungBrowser/", UnknownBrowser},
	{"YaBrowser/", UnknownBrowser},
	{"Vivaldi/", UnknownBrowser},
	{"CriOS/", "chrome"},
	{"Chrome/", "chrome"},
	{"Chromium/", "chrome"},
}

// Browsers are the families that Browser returns.
var Browsers = []string{"chrome", "firefox", "safari", "edge", "opera", UnknownBrowser}

// Browser returns the family and the major version of a browser by its user agent, both empty
// for an empty one. The version is empty where the family is unknown.
func Browser(userAgent string) (family, major string) {
	if userAgent == "" {
		return "", ""
	}
	for i := range families {
		if _, rest, ok := strings.Cut(userAgent, families[i].token); ok {
			if families[i].family == UnknownBrowser {
				return UnknownBrowser, ""
			}
			return families[i].family, leadingNumber(rest)
		}
	}
	if _, rest, ok := strings.Cut(userAgent, "Version/"); ok && strings.Contains(rest, "Safari/") {
		return "safari", leadingNumber(rest)
	}
	return UnknownBrowser, ""
}

// maxMajorDigits bounds a major version: a longer number is no version.
const maxMajorDigits = 4

func leadingNumber(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > maxMajorDigits {
		return ""
	}
	return s[:n]
}

// Operating systems that OperatingSystem returns.
const (
	Android  = "android"
	ChromeOS = "chromeos"
	IOS      = "ios"
	Linux    = "linux"
	MacOS    = "macos"
	Windows  = "windows"
)

// OperatingSystems lists them.
var OperatingSystems = []string{Android, ChromeOS, IOS, Linux, MacOS, Windows}

// systems are the operating systems and their tokens. The first token that occurs determines the system:
// Android names Linux, and iOS names Mac OS X.
var systems = []struct{ token, system string }{
	{"Android", Android},
	{"CrOS", ChromeOS},
	{"iPhone", IOS},
	{"iPad", IOS},
	{"Windows", Windows},
	{"Mac OS X", MacOS},
	{"Macintosh", MacOS},
	{"Linux", Linux},
}

// OperatingSystem returns the operating system in a user agent; empty if it is none of
// OperatingSystems. The user agent of an iPad that requests desktop pages has macOS.
func OperatingSystem(userAgent string) string {
	for _, s := range systems {
		if strings.Contains(userAgent, s.token) {
			return s.system
		}
	}
	return ""
}
