// Package report reads, checks and writes the record of a check, and renders it
// for people: as a pull-request comment, for a terminal, and as one HTML file.
//
// It is pure: a report and options in, bytes out. It knows no clock, no
// environment and no network, so the same report renders the same bytes.
//
// Every string in a report is hostile. The half that measures runs the code of
// the pull request, and the half that publishes reads what it wrote. [Decode]
// therefore refuses whatever the schema does not name, and each renderer
// escapes every string for the place where it puts it; strings from the report
// reach a page only as code spans, fences or escaped prose.
package report
