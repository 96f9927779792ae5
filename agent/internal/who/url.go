package who

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/config"
)

// URL asks the origin server, with the cookies that the page sent, who is logged in.
type URL struct {
	config config.URL
	client *http.Client
}

// NewURL prepares the connections.
func NewURL(c config.URL) (*URL, error) {
	transport, err := newTransport(c.CAFile, c.MaxConcurrent)
	if err != nil {
		return nil, fmt.Errorf("url.%w", err)
	}
	return &URL{c, &http.Client{Transport: transport, CheckRedirect: stay, Timeout: c.Timeout}}, nil
}

// Close ends the idle connections.
func (u *URL) Close() { u.client.CloseIdleConnections() }

// Who is an agent.Who.
func (u *URL) Who(r *http.Request) (agent.User, error) {
	question, err := u.question(r)
	if err != nil {
		return agent.User{}, err
	}
	response, err := u.client.Do(question) //nolint:gosec // G704: the operator names the address
	if err != nil {
		return agent.User{}, fmt.Errorf("ask the origin server: %w", bare(err))
	}
	defer response.Body.Close()
	// Read to the end in each case, so that the connection serves the next question.
	body, err := io.ReadAll(io.LimitReader(response.Body, u.config.MaxBytes+1))
	if err != nil {
		return agent.User{}, fmt.Errorf("read the origin server's answer: %w", bare(err))
	}
	if err := u.status(response); err != nil {
		return agent.User{}, err
	}
	if int64(len(body)) > u.config.MaxBytes {
		return agent.User{}, fmt.Errorf("the origin server: %w: over %d bytes", errTooLong, u.config.MaxBytes)
	}
	return u.read(response, body)
}

// question carries the headers of the list and no others. Where none of them came, nobody
// can be logged in, and the origin server is not asked.
func (u *URL) question(r *http.Request) (*http.Request, error) {
	question, err := http.NewRequestWithContext(r.Context(), http.MethodGet, u.config.Address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask the origin server: %w", err)
	}
	came := false
	for _, name := range u.config.Forward {
		for _, value := range r.Header.Values(name) {
			question.Header.Add(name, value)
			came = true
		}
	}
	if !came {
		return nil, fmt.Errorf("%w: none of url.forward came with the request", agent.ErrNotLoggedIn)
	}
	question.Header.Set("Accept", "application/json")
	question.Header.Set("User-Agent", "qos-agent/"+agent.Version)
	return question, nil
}

func (u *URL) status(response *http.Response) error {
	code := response.StatusCode
	switch {
	case slices.Contains(u.config.LoggedOut, strconv.Itoa(code)):
		return fmt.Errorf("%w: the origin server answered %d", agent.ErrNotLoggedIn, code)
	case code >= 300 && code <= 399:
		return fmt.Errorf("the origin server answered %d; redirects are not followed, see url.logged_out", code)
	case code != http.StatusOK && code != http.StatusNoContent:
		return fmt.Errorf("the origin server answered %d", code)
	}
	return nil
}

func (u *URL) read(response *http.Response, body []byte) (agent.User, error) {
	if u.config.UserHeader != "" {
		values := response.Header.Values(u.config.UserHeader)
		switch {
		case len(values) > 1:
			return agent.User{}, errTwice
		case len(values) == 0 || values[0] == "":
			return agent.User{}, agent.ErrNotLoggedIn
		}
		return agent.User{Name: values[0]}, nil
	}
	object, err := readJSON(body)
	if err != nil {
		return agent.User{}, fmt.Errorf("the origin server's answer %w", err)
	}
	who, err := user(object, u.config.User, u.config.Alias)
	if err != nil {
		return agent.User{}, fmt.Errorf("the origin server's answer: %w", err)
	}
	return who, nil
}

// bare leaves the URL out of an error of the HTTP client: it may hold what is not for logs.
func bare(err error) error {
	if e := new(url.Error); errors.As(err, &e) {
		if e.Timeout() {
			return context.DeadlineExceeded
		}
		return e.Err
	}
	return err
}
