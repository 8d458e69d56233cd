"""Spanish. Accents tell apart: "si" (if) from "sí" (yes), "que" (that) from "qué" (what)."""

GOES_ON = frozenset(
    ("eh", "em", "ehm", "mmm", "este", "pues", "y", "e", "o", "u", "pero", "porque", "aunque", "sino", "ni")
)
ENDS_NOTHING = frozenset(
    (
        *("el", "la", "los", "las", "un", "unos", "unas", "del", "de", "al", "a", "en", "con", "por", "para"),
        *("sin", "sobre", "desde", "hasta", "entre", "hacia", "durante", "según", "contra", "que", "si", "como"),
        *("mi", "mis", "tu", "tus", "su", "sus", "nuestro", "nuestra", "cada", "muy", "se", "me", "te"),
        *("cuyo", "cuando", "mientras", "llamado", "llamada", "cuántos", "cuántas"),
    )
)
OPEN_SUFFIXES: tuple[str, ...] = ()
BEGINNINGS = frozenset(
    (
        *("puedes", "podrías", "me puedes", "puede", "quiero", "quisiera", "me gustaría", "necesito", "dime", "dame"),
        *("ponme", "muéstrame", "cuéntame", "pon", "haz", "llama", "busca", "añade", "sube", "baja", "recuérdame"),
        *("qué es", "cuál es", "cuáles son", "quién es", "dónde está"),
        *("cuándo es", "cómo se", "cuánto es", "cuánto tiempo", "hay", "está", "tienes", "sabes"),
    )
)
MAY_GO_ON = frozenset(
    (
        *("treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa", "cien", "ciento", "mil"),
        *("un", "una", "media", "coma", "y"),
    )
)
BEGINS_MORE = frozenset(("no", "espera", "nada", "ahora", "otra vez", "para", "ya", "vale", "sigue", "a ver", "bueno"))
