// Package demo carries a small repository with one red check, made for trying
// triagebot out: a mail dispatcher whose six red tests are six different things.
package demo
