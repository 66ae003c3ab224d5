//go:build !race

package pebble

const underRace = false
