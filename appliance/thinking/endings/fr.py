"""French. What is elided is never the end: "l'", "d'", "qu'"."""

GOES_ON = frozenset(
    (
        *("euh", "heu", "hum", "hm", "ben", "et", "ou", "mais", "car", "parce", "puisque", "puis", "ainsi"),
        *("lorsque", "afin"),
    )
)
ENDS_NOTHING = frozenset(
    (
        *("le", "la", "les", "un", "une", "des", "du", "de", "au", "aux", "à", "en", "dans", "sur", "sous", "pour"),
        *("par", "sans", "chez", "vers", "entre", "jusqu'à", "jusque", "pendant", "depuis", "que", "comme", "dont"),
        *("mon", "ma", "mes", "ton", "ta", "tes", "sa", "ses", "notre", "votre", "nos", "vos", "ce", "cet", "cette"),
        *("ces", "chaque", "plusieurs", "très", "quel", "quelle", "quels", "quelles", "je"),
        *("nommé", "appelé", "se", "me", "te", "ne", "est-ce"),
    )
)
OPEN_SUFFIXES = ("'",)
BEGINNINGS = frozenset(
    (
        *("peux-tu", "peux tu", "tu peux", "est-ce que", "est ce que", "pourrais-tu", "pourrais tu", "pouvez-vous"),
        *("je veux", "je voudrais", "j'aimerais", "j'ai besoin", "il me faut", "dis-moi", "dis moi", "donne-moi"),
        *(
            "donne moi",
            "montre-moi",
            "raconte-moi",
            "mets",
            "mets-moi",
            "lance",
            "joue",
            "appelle",
            "cherche",
            "ajoute",
        ),
        *("rappelle-moi", "règle", "monte", "baisse", "qu'est-ce que", "qu'est ce que", "c'est quoi", "qui est"),
        *("où est", "où sont", "quand est", "combien de", "quel est", "quelle est"),
        *("y a-t-il", "as-tu", "sais-tu", "il y a"),
    )
)
MAY_GO_ON = frozenset(
    (
        *("vingt", "trente", "quarante", "cinquante", "soixante", "soixante-dix", "quatre-vingt", "quatre-vingts"),
        *("cent", "mille", "un", "une", "virgule", "quatre", "et", "dix"),
    )
)
BEGINS_MORE = frozenset(("non", "attends", "rien", "encore", "maintenant", "oui", "continue"))
