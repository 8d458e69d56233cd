"""German. The verb, or a part of it, often ends the sentence ("mach das Licht an", "hör auf"): what is a preposition
elsewhere is in no list where it may be that part.
"""

GOES_ON = frozenset(
    (
        *("äh", "ähm", "öh", "öhm", "hm", "hmm", "ehm", "und", "oder", "aber", "sondern", "weil", "dass", "obwohl"),
        *("beziehungsweise", "sowie"),
    )
)
ENDS_NOTHING = frozenset(
    (
        *("der", "die", "den", "dem", "des", "eine", "einen", "einem", "einer", "eines", "kein", "keinen", "keinem"),
        *("mein", "meine", "meinen", "meinem", "meiner", "dein", "deine", "deinen", "deinem", "deiner"),
        *("unser", "unsere", "unseren", "unserem", "ihren", "ihrem", "diesen", "diesem", "jeden", "jedem", "nächsten"),
        *("für", "von", "vom", "bis", "ohne", "gegen", "wegen", "seit", "während", "in", "im", "ins", "am", "ans"),
        *("zum", "zur", "beim", "aufs", "fürs", "zwischen", "pro", "als", "wenn", "ob", "falls"),
        *("welche", "welchen", "welchem", "welcher", "wieviele", "namens", "kannst", "könntest"),
    )
)
OPEN_SUFFIXES: tuple[str, ...] = ()
BEGINNINGS = frozenset(
    (
        *("kannst du", "könntest du", "kannst du mir", "könntest du mir", "würdest du", "können sie", "weißt du"),
        *("ich will", "ich möchte", "ich hätte gern", "ich hätte gerne", "ich brauche", "ich nehme", "kann ich"),
        *("sag mir", "gib mir", "zeig mir", "erzähl mir", "spiel", "spiele", "stell", "stelle", "mach", "mache"),
        *("ruf", "such", "setz", "was ist", "was sind", "wer ist", "wo ist", "wo sind"),
        *("wann ist", "wie viel", "wie viele", "wie lange", "wie weit", "wie alt", "wie hoch"),
        *("wie wird", "gibt es", "hast du", "ist es", "erinnere mich", "erinner mich", "füge", "schreib"),
    )
)
MAY_GO_ON = frozenset(
    # Units are said before tens ("fünfundzwanzig"): after "zwanzig" nothing follows, but after "ein" and "hundert".
    ("ein", "eine", "einen", "hundert", "tausend", "komma", "halb", "halbe", "um")
)
BEGINS_MORE = frozenset(("nein", "warte", "moment", "halt", "nichts", "ja", "jetzt", "nochmal", "noch mal", "weiter"))
