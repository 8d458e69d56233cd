"""English. Prepositions that often end sentences ("turn it on") are left out; "too" may have been "to"."""

GOES_ON = frozenset(
    (
        *("um", "umm", "uh", "uhm", "uhh", "er", "erm", "hmm", "eh", "and", "or", "but", "because", "cause", "plus"),
        *("although", "unless", "whether"),
    )
)
ENDS_NOTHING = frozenset(
    (
        *("a", "an", "the", "my", "your", "our", "their", "its", "every"),
        *("of", "to", "for", "from", "at", "in", "into", "onto", "by", "with", "without", "about", "between", "during"),
        *("until", "till", "than", "as", "if", "while", "per", "very", "too", "i", "i'm", "i'll", "i'd", "i've"),
        *("let's", "what's", "who's", "where's", "how's", "it's", "that's", "there's", "hey"),
    )
)
OPEN_SUFFIXES: tuple[str, ...] = ()
BEGINNINGS = frozenset(
    (
        *("can i", "can i have", "can i get", "could i", "could i have", "could i get", "may i", "may i have"),
        *("can you", "could you", "would you", "will you", "do you", "do you know", "are you", "is there", "are there"),
        *("i want", "i would", "i would like", "i'd like", "i need", "i'll have", "i'll take", "let me", "let me have"),
        *("tell me", "give me", "get me", "show me", "play", "put", "set", "make", "call", "add", "start", "remind me"),
        *("i want to know", "i'd like to know", "i would like to know", "how do you say", "how do you spell"),
        *("what is", "what are", "what was", "what does", "what about", "how about", "how much"),
        *("how many", "how long", "how far", "how old", "how do", "how do i", "how do you", "how can i", "who is"),
        *("where is", "where are", "when is", "when does", "why is", "why does", "which", "is it", "is the", "does"),
    )
)
MAY_GO_ON = frozenset(
    (
        *("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand"),
        *("a", "an", "one", "point", "the"),
        *("two", "too", "four"),  # which may have been "to" and "for"
    )
)
BEGINS_MORE = frozenset(
    ("no", "wait", "nothing", "again", "okay", "now", "nah", "no wait", "what", "help", "what is that", "what's that")
)
