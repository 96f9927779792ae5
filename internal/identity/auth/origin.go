package auth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// MaxOriginBytes is the longest Origin header that is looked at.
const MaxOriginBytes = 512

// OriginAllowed reports whether origin may speak for the app. An entry of Origins is an
// origin as browsers write it (scheme, host, port unless it is the default one), or has
// a leading label wildcard: https://*.example.org covers every name below example.org,
// but not example.org.
func (a App) OriginAllowed(origin string) bool {
	if len(origin) > MaxOriginBytes {
		return false
	}
	return len(a.Origins) == 0 || slices.ContainsFunc(a.Origins, func(entry string) bool {
		return originMatches(entry, origin)
	})
}

func originMatches(entry, origin string) bool {
	scheme, rest, wildcard := strings.Cut(entry, "*")
	if !wildcard {
		return entry == origin
	}
	below, ok := strings.CutPrefix(origin, scheme)
	if !ok {
		return false
	}
	below, ok = strings.CutSuffix(below, rest)
	return ok && below != "" && !strings.ContainsAny(below, "/:@?#")
}

// CheckOrigin reports what is wrong with an entry of App.Origins. A wildcard must not cover the pages of strangers:
// the name below it is no public suffix (publicsuffix.org). The list has a section of suffixes that companies give
// their customers names below, such as github.io; privateSuffixes permits wildcards below those.
func CheckOrigin(entry string, privateSuffixes bool) error {
	u, err := url.Parse(strings.Replace(entry, "//*.", "//", 1))
	switch {
	case err != nil:
		return errors.New("is not an origin")
	case u.Scheme == "" || u.Hostname() == "" || u.Opaque != "":
		return errors.New("must be scheme://host, with :port unless it is the scheme's own")
	case u.Scheme+"://"+u.Host != strings.Replace(entry, "//*.", "//", 1):
		return errors.New("must be no more than scheme://host:port, in lower case")
	case strings.Contains(u.Host, "*"):
		return errors.New("may have a wildcard as its first label only")
	case u.Host != strings.ToLower(u.Host):
		return errors.New("must be in lower case")
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r >= utf8.RuneSelf }):
		return errors.New("must be in ASCII, as browsers write it (xn--)")
	case u.Scheme == "https" && u.Port() == "443", u.Scheme == "http" && u.Port() == "80":
		return fmt.Errorf("must leave out :%s, as browsers do", u.Port())
	case strings.HasSuffix(u.Host, ":"), len(entry) > MaxOriginBytes:
		return fmt.Errorf("must be at most %d bytes and not end in a colon", MaxOriginBytes)
	}
	if strings.Contains(entry, "//*.") {
		return checkWildcard(u.Hostname(), privateSuffixes)
	}
	return nil
}

// checkWildcard reports what is wrong with a wildcard below a name.
func checkWildcard(name string, privateSuffixes bool) error {
	name = strings.TrimSuffix(name, ".") // the root, which is the same name
	if _, err := netip.ParseAddr(name); err == nil || endsInNumber(name) {
		return errors.New("may have a wildcard before a name only, not before an address")
	}
	// The list has rules for all names below another one (*.ck, *.kawasaki.jp): each label makes a public suffix there.
	for _, covered := range []string{name, "any." + name} {
		suffix, registry := publicsuffix.PublicSuffix(covered)
		managed := registry || strings.Contains(suffix, ".") // others are no names of the Internet: those of an intranet
		switch {
		case covered != suffix || !managed:
		case registry:
			return fmt.Errorf("must not be a wildcard below the public suffix %s: anybody can have a name there", name)
		case !privateSuffixes:
			return fmt.Errorf("must not be a wildcard below the public suffix %s unless private_suffixes is true: customers of its owner have names there", name)
		}
	}
	return nil
}

// endsInNumber reports whether the last label of a name is a number: browsers take such a host for an IPv4 address.
func endsInNumber(name string) bool {
	return strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "0123456789") == ""
}
