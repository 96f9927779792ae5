package digest

// Attribute is what a fact of a participant is about.
type Attribute uint8

// Attributes of facts.
const (
	App                 Attribute = iota // of the conference
	Site                                 //
	ApplicationVersion                   //
	Browser                              // family
	BrowserVersion                       // family and major version: "firefox 144"
	OS                                   //
	Device                               // model
	Usage                                // of a fabric, as those below
	LocalCandidateType                   //
	RemoteCandidateType                  //
	RelayProtocol                        //
	NetworkType                          //
	LocalAddress                         // prefix, as it is stored
	Codec                                //
	attributes
)
