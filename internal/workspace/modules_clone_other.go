//go:build !linux

package workspace

import (
	"errors"
	"os"
)

func cloneFile(_, _ *os.File) error { return errors.ErrUnsupported }
