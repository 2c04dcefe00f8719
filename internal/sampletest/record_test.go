package sampletest

import (
	"context"
	"fmt"
	"strings"
)

// recordRed runs head under the delay of the first fact that makes it red and
// returns what go test -json printed.
func (s Sample) recordRed(ctx context.Context, tree, scratch string) (string, error) {
	for _, f := range s.Facts {
		if f.Late == nil || f.On == "base" || strings.HasPrefix(f.Red, "0") {
			continue
		}
		overlay, err := f.Late.overlay(tree, scratch)
		if err != nil {
			return "", err
		}
		patterns := []string{"./..."}
		if len(s.Suite) > 3 { // go test -json PATTERNS
			patterns = s.Suite[3:]
		}
		args := append([]string{"test", "-json", "-vet=off", "-overlay=" + overlay}, f.Flags...)
		out, code, err := run(ctx, tree, nil, "go", append(args, patterns...)...)
		if err != nil {
			return "", err
		}
		if code == 0 {
			return "", fmt.Errorf("recording sample %q: %w", s.Name, ErrGreen)
		}
		return out, nil
	}
	return "", fmt.Errorf("recording sample %q: no fact makes head red", s.Name)
}
