package honest

import (
	"context"
	"fmt"
)

type Step interface {
	Do(ctx context.Context) error
}

// Op goes through three workers one after the other.
func Op(ctx context.Context, steps ...Step) error {
	for i, s := range steps {
		res := make(chan error, 1)
		go func() { res <- s.Do(ctx) }()
		select {
		case err := <-res:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return fmt.Errorf("step %d: %w", i, ctx.Err())
		}
	}
	return nil
}
