// Package scan takes JSON apart without reading it all into values. It passes over
// long texts with a search for their end, which matters in a sandbox, where a loop
// over each byte is dear.
//
// It is made for what the host sends, which is valid. What is not valid gives an
// error or a part that is not valid either; it never reads beyond the input.
package scan
