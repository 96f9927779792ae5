package join

import (
	"fmt"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/envelope"
)

// maxDocument bounds a summary's document, in bytes: enough for thousands of participants of
// 5 kB each.
const maxDocument = 256 << 20

// documents compresses documents. It is safe for concurrent use.
var documents = envelope.New(maxDocument)

// SealDocument returns a summary's document in the form of its column.
func SealDocument(document []byte) ([]byte, error) {
	if len(document) == 0 {
		return []byte{}, nil
	}
	sealed, err := documents.Seal(document)
	if err != nil {
		return nil, fmt.Errorf("summary's document: %w", err)
	}
	return sealed, nil
}

// OpenDocument sets the document of a conference's summary from its column. If the column is
// damaged, it sets none and returns an error that wraps storage.ErrDamaged and names the conference.
func OpenDocument(c *storage.Conference, column []byte) error {
	if c.Summary == nil {
		return nil
	}
	if len(column) == 0 || column[0] != envelope.Version { // schema 1 kept the JSON itself
		c.Summary.Document = column
		return nil
	}
	document, err := documents.Open(column)
	if err != nil {
		return fmt.Errorf("%w: the summary's document of conference %q of app %q at %s: %w",
			storage.ErrDamaged, c.ConferenceID, c.AppID, c.Start.UTC().Format("2006-01-02T15:04:05.000Z"), err)
	}
	c.Summary.Document = document
	return nil
}
