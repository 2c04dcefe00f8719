// Package beside notices what else uses the machine while trials run: a test that
// waits for a clock is red more often beside another suite. It looks on Linux only,
// where one read of /proc tells.
package beside
