package protocol

import "unicode/utf8"

// AuthRequest is the body of a POST to auth: *ScramFirst, *ScramFinal or *JWTRequest
// (section 3).
type AuthRequest interface{ authRequest() }

// ScramFirst carries the client-first message (section 3.1).
type ScramFirst struct {
	AppID  string
	UserID UserID
	Scram  string
}

// ScramFinal carries the client-final message and the server's sealed state.
type ScramFinal struct {
	State string
	Scram string
}

// JWTRequest carries a token that the origin server signed (section 3.2).
type JWTRequest struct {
	AppID  string
	UserID UserID // the zero value: the user that the token names
	JWT    string
}

func (*ScramFirst) authRequest() {}
func (*ScramFinal) authRequest() {}
func (*JWTRequest) authRequest() {}

var scramFirstMembers = []member[ScramFirst]{
	typeMember[ScramFirst](),
	idMember("appID", MaxIDBytes, func(r *ScramFirst) *string { return &r.AppID }),
	{"userID", true, func(s *scanner, r *ScramFirst) { r.UserID = s.userID() }},
	idMember("scram", MaxScramBytes, func(r *ScramFirst) *string { return &r.Scram }),
}

var scramFinalMembers = []member[ScramFinal]{
	typeMember[ScramFinal](),
	idMember("state", MaxStateBytes, func(r *ScramFinal) *string { return &r.State }),
	idMember("scram", MaxScramBytes, func(r *ScramFinal) *string { return &r.Scram }),
}

var jwtMembers = []member[JWTRequest]{
	typeMember[JWTRequest](),
	idMember("appID", MaxIDBytes, func(r *JWTRequest) *string { return &r.AppID }),
	{"userID", false, func(s *scanner, r *JWTRequest) { r.UserID = s.userID() }},
	idMember("jwt", MaxJWTBytes, func(r *JWTRequest) *string { return &r.JWT }),
}

// DecodeAuth parses and validates the body of a POST to auth.
func DecodeAuth(body []byte) (AuthRequest, *Error) {
	return decodePost(body, (*scanner).authRequest)
}

// decodePost parses the body of a POST with one message. The error has no frame number.
func decodePost[T any](body []byte, read func(*scanner, Type) T) (request T, _ *Error) {
	if len(body) > MaxFrameBytes {
		return request, tooLarge(body)
	}
	var s scanner
	s.reset(body)
	if !utf8.Valid(body) {
		s.fail(CodeMalformed, 0, "the message is not UTF-8")
		return request, s.err
	}
	kind := s.messageType()
	if s.err == nil {
		s.reset(body)
		read := read(&s, kind)
		if s.end(); s.err == nil {
			return read, nil
		}
	}
	return request, finish(s.err, TypeHello, nil)
}

func (s *scanner) authRequest(kind Type) AuthRequest {
	switch kind {
	case TypeScramFirst:
		return readFrame(s, scramFirstMembers, &ScramFirst{})
	case TypeScramFinal:
		return readFrame(s, scramFinalMembers, &ScramFinal{})
	case TypeJWT:
		return readFrame(s, jwtMembers, &JWTRequest{})
	}
	s.fail(CodeTypeUnknown, 0, "is not one of the handshake")
	s.inField("type")
	return nil
}
