package protocol

import "strconv"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// exactPow10 are the powers of ten that a float64 represents exactly.
var exactPow10 = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// number reads a number. Most have at most 15 digits and few decimals: the quotient of two exact
// floats is then the correctly rounded value (Clinger 1990), without a general-purpose parser.
func (s *scanner) number() float64 {
	buf, i := s.buf, s.pos
	negative := i < len(buf) && buf[i] == '-'
	if negative {
		i++
	}
	first := i
	var mantissa uint64
	for i < len(buf) && isDigit(buf[i]) {
		mantissa = mantissa*10 + uint64(buf[i]-'0')
		i++
	}
	digits := i - first
	if digits == 0 || digits > 1 && buf[first] == '0' {
		s.malformed()
		return 0
	}
	decimals := 0
	if i < len(buf) && buf[i] == '.' {
		point := i
		for i++; i < len(buf) && isDigit(buf[i]); i++ {
			mantissa = mantissa*10 + uint64(buf[i]-'0')
		}
		if decimals = i - point - 1; decimals == 0 {
			s.malformed()
			return 0
		}
	}
	if i < len(buf) && buf[i]|0x20 == 'e' || digits+decimals > 15 {
		return s.longNumber(i)
	}
	s.pos = i
	value := float64(mantissa) / exactPow10[decimals]
	if negative {
		return -value
	}
	return value
}

// longNumber reads a number with an exponent at i, or with too many digits.
func (s *scanner) longNumber(i int) float64 {
	buf := s.buf
	if i < len(buf) && buf[i]|0x20 == 'e' {
		i++
		if i < len(buf) && (buf[i] == '+' || buf[i] == '-') {
			i++
		}
		digits := i
		for i < len(buf) && isDigit(buf[i]) {
			i++
		}
		if i == digits {
			s.malformed()
			return 0
		}
	}
	value, err := strconv.ParseFloat(string(buf[s.pos:i]), 64)
	if err != nil {
		s.fail(CodeFieldValue, 0, "is a number beyond the range of doubles")
	}
	s.pos = i
	return value
}
