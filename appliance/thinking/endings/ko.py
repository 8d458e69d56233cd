"""Korean. The verb comes last, and its ending says whether the sentence is over: after a particle, or an ending that
joins sentences, it is not. Recognisers part words where they like, so that only the last syllables count.
"""

GOES_ON = frozenset(
    ("음", "어", "그", "저기", "그리고", "그런데", "근데", "하지만", "그러면", "또는", "아니면", "그러니까")
)
ENDS_NOTHING = frozenset(
    (
        *("은", "는", "을", "를", "에", "에서", "에게", "한테", "으로", "로", "과", "의", "랑", "이랑", "하고", "까지"),
        *("부터", "보다", "처럼", "마다", "내", "제", "우리", "이번", "어떤", "무슨", "몇", "좀", "제일", "가장"),
    )
)
OPEN_SUFFIXES = (
    *("에서", "에게", "한테", "으로", "까지", "부터", "보다", "처럼", "마다", "를", "을", "려고", "려면", "다면"),
    *("으면", "면서", "지만", "아서", "어서", "해서", "니까", "하고", "이랑", "오늘은", "내일은", "지금은", "에는"),
)
BEGINNINGS = frozenset(("타이머", "알람", "볼륨", "소리", "오늘", "내일", "지금", "나", "너", "혹시", "있잖아", "누가"))
MAY_GO_ON = frozenset(
    # Numbers go on, and so does a question that a politer ending may follow.
    ("십", "이십", "삼십", "사십", "오십", "육십", "칠십", "팔십", "구십", "백", "열", "스물", "서른", "마흔", "쉰")
)
BEGINS_MORE = frozenset(("아니", "잠깐", "잠깐만", "잠시만", "그래서", "다시", "이제", "계속", "시간", "시각", "날짜"))
