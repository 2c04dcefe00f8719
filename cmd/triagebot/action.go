package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func newAction(s streams) *cobra.Command {
	var table bool
	c := &cobra.Command{
		Use:   "action",
		Short: "Run as the GitHub Action, from INPUT_* and GITHUB_*",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if table {
				return printInputs(s.out)
			}
			return errors.New("running the action: not here yet")
		},
	}
	c.Flags().BoolVar(&table, "print-inputs", false, "print the inputs and outputs as JSON")
	if err := c.Flags().MarkHidden("print-inputs"); err != nil {
		panic(err) // the flag is named one line above
	}
	return c
}
