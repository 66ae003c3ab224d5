// Package markdown finds the structure of a Markdown document: its headings,
// paragraphs, code blocks, links and images. It follows the block structure of
// CommonMark and the tables and bare links of GitHub's dialect; it makes no HTML.
//
// The time it takes grows with the length of the document and not faster,
// whatever the document is: everything that would have to look far ahead has a
// bound, beyond which the text counts as plain text.
package markdown
