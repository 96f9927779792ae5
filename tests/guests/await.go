package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// errUnexpected is the error of an answer for which nobody waits.
var errUnexpected = errors.New("unexpected answer of the server")

// deliver passes an answer of the server to await.
func deliver[T any](answers chan<- T, answer T) error {
	select {
	case answers <- answer:
		return nil
	default:
		return errUnexpected
	}
}

// await returns the next answer of the server. It returns an error if the guest fails, ctx is done or the answer takes
// longer than answerTimeout.
func await[T any](ctx context.Context, g *guest, answers <-chan T) (answer T, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	select {
	case answer = <-answers:
		return answer, nil
	case err = <-g.failed:
		return answer, err
	case <-ctx.Done():
		return answer, fmt.Errorf("the server does not answer: %w", ctx.Err())
	}
}

// refusal adds the status of the server's response to the error of a WebSocket that was refused. The body may have the token.
func refusal(err error, response *http.Response) error {
	if response == nil {
		return err
	}
	response.Body.Close()
	return fmt.Errorf("%w: %s", err, response.Status)
}
