// Package sampletest is test support: it reads the sample repositories of
// testdata/samples, builds them, makes their red check, proves what they plant
// with the framework's plain tool, and compares a report of triagebot with the truth.
// No product code imports it.
//
// A sample is a txtar archive whose comment is a YAML document, the [Header].
// Its files are laid out as package sample says; "ci.json" or "ci.log" at the top is
// a recorded report of the red check, for reds that are too rare to wait for.
package sampletest
