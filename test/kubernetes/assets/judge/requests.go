package main

import (
	"net/http"
	"strings"
	"sync"
)

// requests counts how configmaps were asked for.
type requests struct {
	mutex sync.Mutex
	// Lists by GET, and lists that came as the first events of a watch.
	Lists, StreamedLists int
}

func (seen *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/configmaps") {
			query := request.URL.Query()
			seen.mutex.Lock()
			switch {
			case query.Get("sendInitialEvents") == "true":
				seen.StreamedLists++
			case query.Get("watch") != "true":
				seen.Lists++
			}
			seen.mutex.Unlock()
		}
		return next.RoundTrip(request)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
