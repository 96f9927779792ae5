package protocol

// AuthRequest is what a client may POST to auth: *ScramFirst, *ScramFinal or
// *JWTRequest (section 3).
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
	UserID UserID
	JWT    string
}

func (*ScramFirst) authRequest() {}
func (*ScramFinal) authRequest() {}
func (*JWTRequest) authRequest() {}
