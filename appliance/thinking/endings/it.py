"""Italian. "su" and "giù" end sentences ("tira su"), and are in no list. Some recognisers write "e" for "è"."""

GOES_ON = frozenset(
    ("ehm", "eh", "uhm", "mmm", "allora", "ed", "o", "oppure", "ma", "però", "quindi", "cioè", "anche", "siccome")
)
ENDS_NOTHING = frozenset(
    (
        *("il", "lo", "la", "e", "i", "gli", "le", "un", "uno", "di", "del", "dello", "della", "dei", "degli", "delle"),
        *("a", "al", "allo", "alla", "ai", "agli", "alle", "da", "dal", "dallo", "dalla", "dai", "dagli", "dalle"),
        *("in", "nel", "nello", "nella", "nei", "negli", "nelle", "con", "col", "sul", "sullo", "sulla", "sui", "per"),
        *("tra", "fra", "senza", "verso", "fino", "durante", "che", "se", "mentre"),
        *("ogni", "io", "mi", "ti", "quanti", "quante", "chiamato", "chiamata"),
    )
)
OPEN_SUFFIXES = ("'",)
BEGINNINGS = frozenset(
    (
        *("puoi", "potresti", "mi puoi", "può", "voglio", "vorrei", "mi serve", "ho bisogno", "dimmi", "dammi"),
        *("mostrami", "raccontami", "metti", "mettimi", "imposta", "fai", "chiama", "cerca", "aggiungi", "alza"),
        *("abbassa", "ricordami", "cos'è", "chi è", "dov'è"),
        *("quando è", "come si", "quanto è", "qual è", "quali sono", "c'è"),
        *("ci sono", "hai", "sai", "suona"),
    )
)
MAY_GO_ON = frozenset(
    (
        *("venti", "trenta", "quaranta", "cinquanta", "sessanta", "settanta", "ottanta", "novanta", "cento", "mille"),
        *("un", "una", "mezza", "mezzo", "virgola", "e"),
    )
)
BEGINS_MORE = frozenset(("no", "aspetta", "niente", "ancora", "adesso", "ora", "va bene", "sì", "avanti"))
