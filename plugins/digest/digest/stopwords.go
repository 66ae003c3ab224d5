package digest

// stopWord reports whether a word, in lower case, is so common in English, German,
// French or Spanish that it says nothing about a text. One or two letters never do.
func stopWord(word []byte) bool {
	if len(word) <= 2 {
		return true
	}
	switch string(word) {
	case "the", "and", "for", "are", "but", "not", "you", "all", "any", "can", "had", "her", "was", "one", "our", "out",
		"has", "his", "him", "how", "its", "may", "new", "now", "see", "two", "who", "did", "get", "let", "she", "too",
		"use", "that", "with", "have", "thi", "this", "will", "your", "from", "they", "been", "some", "what", "when",
		"were", "there", "their", "would", "which", "about", "could", "other", "these", "those", "than", "then", "them",
		"into", "only", "also", "such", "each", "more", "most", "must", "very", "over", "many", "much", "both", "where",
		"while", "because", "should", "does", "doe", "being", "before", "after", "again", "against", "between", "through",
		"during", "under", "above", "below", "here", "why", "just", "same", "own", "off", "down", "until", "once",
		"don't", "it's", "isn't", "doesn't", "can't", "won't", "i'm", "that'", "it'", "shall", "might", "like", "even",
		"yet", "upon", "within", "without", "however", "therefore", "thus", "said", "say", "way",
		"der", "die", "das", "und", "ist", "von", "mit", "den", "dem", "des", "ein", "eine", "einer", "einem", "einen",
		"nicht", "auch", "auf", "für", "sich", "werden", "wird", "sind", "sie", "bei", "aus", "nach", "oder", "wie",
		"als", "noch", "nur", "aber", "zum", "zur", "durch", "über", "dass", "kann", "haben", "hat", "dieser", "diese",
		"les", "une", "dan", "dans", "que", "qui", "pour", "pas", "par", "sur", "plus", "avec", "est", "sont", "ont",
		"cette", "mai", "nou", "vou", "leur", "comme", "aux", "ses", "son", "elle", "ils", "été", "être",
		"los", "las", "una", "del", "con", "por", "para", "como", "pero", "más", "este", "esta", "fue", "ser", "sus",
		"sin", "sobre", "entre", "cuando", "muy", "hay", "también", "desde", "todo":
		return true
	}
	return false
}
