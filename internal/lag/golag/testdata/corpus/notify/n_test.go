package notify

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func server(t *testing.T) (url string, got chan string) {
	got = make(chan string, 4)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Method
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

// RACY: waits for the request (attempt), asserts on the sender's book (outcome).
func TestRacyHandlerSeen(t *testing.T) {
	url, got := server(t)
	n := New(url)
	defer n.Close()
	n.Send("a")
	<-got
	if n.Delivered() != 1 {
		t.Fatal("not delivered")
	}
}

func TestOkDelivered(t *testing.T) {
	url, got := server(t)
	n := New(url)
	defer n.Close()
	n.Send("a")
	<-got
	for end := time.Now().Add(30 * time.Second); n.Delivered() != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not delivered")
		}
	}
}
