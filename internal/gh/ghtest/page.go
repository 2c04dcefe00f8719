package ghtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Sizes of a page: GitHub's default and most. A caller that asks for more
// expects what it will not get, so that is a breach.
const (
	defaultPage = 30
	maxPage     = 100
)

// page cuts out what was asked for and says where the rest is.
func (c *call) page(items []any) ([]any, http.Header) {
	size, n := c.asked("per_page", defaultPage), c.asked("page", 1)
	if size > maxPage {
		refuse("per_page is %d, at most %d are given", size, maxPage)
	}
	last := max((len(items)+size-1)/size, 1)
	header := http.Header{}
	var links []string
	link := func(rel string, to int) {
		q := url.Values{}
		for k, v := range c.query {
			q[k] = v
		}
		q.Set("page", strconv.Itoa(to))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel=%q`, c.base, c.entry.Path, q.Encode(), rel))
	}
	if n > 1 {
		link("prev", min(n-1, last))
	}
	if n < last {
		link("next", n+1)
		link("last", last)
	}
	if n > 1 {
		link("first", 1)
	}
	if len(links) > 0 {
		header.Set("Link", strings.Join(links, ", "))
	}
	from, to := min((n-1)*size, len(items)), min(n*size, len(items))
	return append([]any{}, items[from:to]...), header // [], never null
}

func (c *call) asked(name string, otherwise int) int {
	text := c.q(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		refuse("%s is %q", name, text)
	}
	return n
}

// list is a page as a bare array.
func (c *call) list(items []any) reply {
	part, header := c.page(items)
	return reply{status: http.StatusOK, body: part, header: header}
}

// counted is a page as an object with total_count.
func (c *call) counted(name string, items []any) reply {
	part, header := c.page(items)
	return reply{status: http.StatusOK, body: obj{"total_count": len(items), name: part}, header: header}
}
