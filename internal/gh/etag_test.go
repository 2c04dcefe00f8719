package gh

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

func TestAnUnchangedAnswerTellsTheLimitsOfToday(t *testing.T) {
	remaining := "0"
	c, k := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"x"`)
		if remaining != "" {
			w.Header().Set("X-Ratelimit-Remaining", remaining)
		}
		w.Header().Set("X-Ratelimit-Reset", fmt.Sprint(time.Now().Add(30*time.Second).Unix()))
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, `{"number":7}`)
	})
	wait := []int{0, 1, 1, 0, 0} // the answer before was the last of its quota, or was not
	for i, left := range []string{"0", "0", "9", "", "9"} {
		remaining = left
		if p, err := c.Pull(ctx, 7); err != nil || p.Number != 7 {
			t.Fatalf("%v %v", p, err)
		}
		if got := len(k.waits()); got != wait[i] {
			t.Errorf("request %d: %d waits, want %d", i, got, wait[i])
		}
	}
}

func TestAskingAgainIsConditionalAndCostsNothing(t *testing.T) {
	f := newFake(t, "workflow")
	first, err := f.Pull(ctx, 7)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Pull(ctx, 7)
	if err != nil || again != first {
		t.Errorf("the same again: %v %v", again, err)
	}
	r := f.Requests()
	if len(r) != 2 || r[0].Conditional || !r[1].Conditional || r[1].Status != http.StatusNotModified {
		t.Errorf("requests %+v", r)
	}
	f.MoveHead(7, ghtest.SHA("moved"))
	moved, err := f.Pull(ctx, 7)
	if err != nil || moved.Head.SHA != ghtest.SHA("moved") {
		t.Errorf("after a change: %v %v", moved, err)
	}
	if used := f.State().Tokens[0].Used; used != 2 {
		t.Errorf("three requests cost %d", used)
	}
}

func TestTheStoreOfAnswersIsBounded(t *testing.T) {
	e := newETags()
	big := make([]byte, maxCached/4)
	for i := range 10 {
		e.keep(fmt.Sprint(i), cached{tag: "x", body: big})
		e.keep("same", cached{tag: "y", body: big})
	}
	var sum int
	for _, k := range e.known {
		sum += len(k.body)
	}
	if sum > maxCached || sum != e.bytes {
		t.Errorf("holds %d bytes, counts %d, may hold %d", sum, e.bytes, maxCached)
	}
	e.keep("huge", cached{tag: "x", body: make([]byte, maxCached)})
	if _, ok := e.known["huge"]; ok {
		t.Error("an answer larger than its share is kept")
	}
}

func TestAnAnswerForgottenMeanwhileIsStillGiven(t *testing.T) {
	var n int
	var forget func()
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"x"`)
		if n++; r.Header.Get("If-None-Match") != "" {
			forget()
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, `{"number":7}`)
	})
	store := c.api.Client().Transport.(*transport).cache
	forget = func() {
		store.mu.Lock()
		defer store.mu.Unlock()
		clear(store.known)
	}
	for range 2 {
		if p, err := c.Pull(ctx, 7); err != nil || p.Number != 7 {
			t.Errorf("%v %v", p, err)
		}
	}
	if n != 2 {
		t.Errorf("%d requests", n)
	}
}
