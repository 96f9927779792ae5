package harness

import (
	"context"
	"fmt"

	"github.com/qosrtc/qos/storage"
)

// EachRecord calls yield for every record of an application, of a conference or of none.
func EachRecord(ctx context.Context, store storage.Reader, appID string, yield func(session string, r storage.Record)) error {
	if err := eachUnattached(ctx, store, appID, yield); err != nil {
		return err
	}
	query := storage.Query{AppID: appID}
	for {
		page, err := store.Conferences(ctx, query)
		if err != nil {
			return err
		}
		for _, c := range page.Conferences {
			ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}
			err := store.Records(ctx, ref, func(session string, r storage.Record) bool {
				yield(session, r)
				return true
			})
			if err != nil {
				return err
			}
		}
		if query.Before = page.Next; page.Next == (storage.Cursor{}) {
			return nil
		}
	}
}

func eachUnattached(ctx context.Context, store storage.Reader, appID string, yield func(session string, r storage.Record)) error {
	for query := (storage.UnattachedQuery{AppID: appID}); ; {
		page, err := store.Unattached(ctx, query)
		if err != nil {
			return err
		}
		for _, u := range page.Unattached {
			if u.More {
				return fmt.Errorf("session %s has more than %d unattached records: the store does not list all", u.Session.ID, storage.MaxUnattachedRecords)
			}
			for _, r := range u.Records {
				yield(u.Session.ID, r)
			}
		}
		if query.Before = page.Next; page.Next == (storage.Cursor{}) {
			return nil
		}
	}
}
