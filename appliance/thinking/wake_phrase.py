"""Taking the wake phrase off what was heard.

The recording begins before the wake word is over, or in the middle of it, and a recogniser writes it as it likes:
"Alexa.", "a lexa", "Alexis", "Exa". Words are compared by a rough key of their sounds, in which English spellings of
one sound are one letter and all vowels are the same.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable

from rapidfuzz.distance import Indel

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PUNCTUATION = (",", ".", "!", "?", "…")
_SENTENCE_ENDS = (".", "!", "?", "…")
_BEFORE = 5
"""Words that may be heard in the second before a wake word is recognised."""
_AFTER = " \t\n,.;:!?…-–—"
_INTERJECTIONS = frozenset(
    (
        *("hey", "hi", "hello", "ok", "okay", "oh", "so", "um", "uh"),
        *("hallo", "he", "na", "also", "du", "äh", "ähm"),
        *("hé", "eh", "dis", "salut", "bonjour", "euh"),
        *("oye", "oiga", "hola", "che", "ehi", "senti", "ciao", "ehm"),
        *("헤이", "야", "저기", "음", "어", "안녕"),
    )
)
_OTHER_SPELLINGS = {
    "alexa": ("알렉사", "알렉스", "알렉산", "알레사", "렉사"),
    "hey_jarvis": ("헤이 자비스",),
    "hey_mycroft": ("헤이 마이크로프트",),
    "timer": ("타이머",),
    "weather": ("웨더",),
}
"""What recognisers of other scripts write for the words that come with the appliance."""
_SPELLINGS = (
    (re.compile("ph"), "f"),
    (re.compile("x"), "ks"),
    (re.compile("c(?=[eiy])"), "s"),
    (re.compile("c|q"), "k"),
    (re.compile("z"), "s"),
    (re.compile("(?<=.)h"), ""),
    (re.compile("[aeiouy]+"), "a"),
    (re.compile(r"(.)\1+"), r"\1"),
)
_SIMILAR = 0.9
"""Of the keys: "Alexis" (0.92) is "Alexa"; "a lecture" (0.71) is not."""
_SIMILAR_IN_PIECES = 0.92
"""Of the keys, when more words were heard: "a lexus" (0.92) is "Alexa"; "je vais" (0.91) is not "Jarvis"."""
_SIMILAR_CONSONANTS = 0.85
"""Of the keys without vowels: keeps "Alice" (0.8) apart from "Alexa", which its key alone (0.91) would not."""


def strip_wake(text: str, words: Iterable[str]) -> str:
    """`text` without the wake phrases of `words` ("alexa", "hey_jarvis") in front, whole or cut; else as it is.

    What was heard before a whole one goes too, if the phrase clearly addresses somebody.

    Empty when nothing but the wake phrase was heard. Only as many words are taken as sound like one phrase.
    """
    phrases = _phrases(words)
    text = text.strip()
    end = _wake_end(text, phrases, again=False)
    if end is None:
        end = _addressed(text, phrases)
    while end is not None:
        text = text[end:].lstrip(_AFTER)
        end = _wake_end(text, phrases, again=True)
    return text


def mentions(text: str, word: str, alike: float = 1.0) -> bool:
    """Whether the wake phrase of `word` stands anywhere in `text`, or what is `alike` to it; 1 is the same sound."""
    words = [match[0].lower() for match in _WORD.finditer(text)]
    return any(
        _is_whole(words[start : start + count], phrase, alike)
        for phrase in _phrases((word,))
        for count in range(1, len(phrase) + 2)
        for start in range(len(words) - count + 1)
    )


def _phrases(words: Iterable[str]) -> list[list[str]]:
    spelled = itertools.chain.from_iterable((word, *_OTHER_SPELLINGS.get(word.lower(), ())) for word in words)
    return [phrase for word in spelled if (phrase := [match[0] for match in _WORD.finditer(word.lower())])]


def _addressed(text: str, phrases: list[list[str]]) -> int | None:
    """Where a wake phrase ends that something else was heard before: the end of other talk, or of a reply.

    It has to stand out as an address does: a sentence ends before it, or a pause and a command come after it.
    """
    words = list(itertools.islice(_WORD.finditer(text), _BEFORE + max(map(len, phrases), default=0)))
    for start, phrase in itertools.product(range(1, _BEFORE + 1), phrases):
        head = [word[0].lower() for word in words[start : start + len(phrase)]]
        if len(words) < start + len(phrase) or not _is_whole(head, phrase, _SIMILAR):
            continue
        end = words[start + len(phrase) - 1].end()
        begins_sentence = text[: words[start].start()].rstrip().endswith(_SENTENCE_ENDS)
        if begins_sentence or (text.startswith(_PUNCTUATION, end) and text[end:].strip(_AFTER)):
            return end
    return None


def _wake_end(text: str, phrases: list[list[str]], *, again: bool) -> int | None:
    """Where the wake phrase at the start of `text` ends. `again`: after another one, only its very self counts."""
    words = list(itertools.islice(_WORD.finditer(text), max(map(len, phrases), default=0) + 2))
    starts = (0, 1) if words and words[0][0].lower() in _INTERJECTIONS else (0,)
    for start, phrase in itertools.product(starts, phrases):
        head: list[str] = []
        for word in words[start : start + len(phrase) + 1]:
            head.append(word[0].lower())
            if _is_whole(head, phrase, 1.0 if again else _SIMILAR):
                return word.end()
            alone = text.startswith(_PUNCTUATION, word.end())
            if start == 0 and not again and _is_cut("".join(head), phrase[-1], alone):
                return word.end()
    return None


def _is_whole(head: list[str], phrase: list[str], similar: float) -> bool:
    """Whether the words of `head` sound like the phrase, or like its last word."""
    heard = "".join(head)
    for words in (phrase, phrase[-1:]):
        whole = "".join(words)
        consonants, expected = _consonants(heard), _consonants(whole)
        in_pieces = len(head) > len(words) and similar >= _SIMILAR
        if (
            consonants[:1] == expected[:1]
            and Indel.normalized_similarity(consonants, expected) >= min(similar, _SIMILAR_CONSONANTS)
            and Indel.normalized_similarity(_key(heard), _key(whole))
            >= (max(similar, _SIMILAR_IN_PIECES) if in_pieces else similar)
        ):
            return True
    return False


def _is_cut(head: str, word: str, alone: bool) -> bool:
    """Whether `head` is what a recogniser makes of the end of `word`.

    Where no punctuation sets it apart, it has to be spelled like it: "Lacksa. Stop." is, "craft a poem" isn't.
    """
    if word.endswith(head) and len(head) >= max(3, len(word) / 2):
        return True
    key, whole = _key(head), _key(word)
    return alone and whole.endswith(key) and len(key) >= max(3, len(whole) / 2)


def _key(word: str) -> str:
    key = "".join(char for char in unicodedata.normalize("NFKD", word) if char.isalpha())
    for spelling, sound in _SPELLINGS:
        key = spelling.sub(sound, key)
    return key


def _consonants(word: str) -> str:
    return _key(word).replace("a", "")
