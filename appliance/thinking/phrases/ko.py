"""Korean, in the polite form of everyday talk."""

from collections.abc import Sequence
from datetime import date, time

from unicode_rbnf import RbnfEngine

from appliance.thinking.phrases.wording import parts

NAME = "한국어"
READY = "준비됐어요."
SOUND_IS_BACK = "소리가 다시 나와요."
HOW_I_AM = "저는 잘 지내요. 고마워요."
HELP = (
    "몇 시인지, 오늘이 며칠인지 물어보세요. "
    "타이머를 맞추거나, 더 크게 또는 더 작게 말할 수 있어요. "
    "방금 한 대답을 다시 말하거나 이어서 말할 수 있고, 그만이라고 하면 조용히 할게요."
)
NOTHING_TO_REPEAT = "아직 아무 말도 안 했어요."
NOTHING_TO_GO_ON_WITH = "더 할 말이 없어요."
UNKNOWN = "죄송해요, 그건 대답할 수 없어요. 시간과 날짜는 알려 드릴 수 있어요."
ONE_MOMENT = "잠시만요."
_LATER = "일 분 뒤에 다시 물어보시거나, 지금 시간이나 날짜를 물어보세요."
MODEL_SLOW = f"아직 언어 모델의 대답을 기다리고 있어요. {_LATER}"
MODEL_WARMING = f"언어 모델이 아직 준비 중이에요. {_LATER}"
MODEL_BUSY = f"언어 모델이 지금 바빠요. {_LATER}"
MODEL_TOO_LONG = "언어 모델에게는 너무 길었어요. 더 짧게 물어보시거나, 시간이나 날짜를 물어보세요."
NO_MODEL = "지금은 언어 모델에 연결할 수 없어요. 그래도 시간과 날짜는 알려 드릴 수 있어요."
BROKE_OFF = "죄송해요, 언어 모델과 연결이 끊어졌어요."
APOLOGY = "죄송해요, 문제가 생겼어요. 다시 한번 말씀해 주세요."
TIMER_HOW_LONG = "몇 분으로 맞출까요?"
TIMER_TOO_LONG = "타이머는 하루까지만 맞출 수 있어요."
TIMERS_TOO_MANY = "타이머가 너무 많아요. 먼저 하나를 취소해 주세요."
TIMERS_NONE = "맞춰 둔 타이머가 없어요."
TIMER_UNKNOWN = "그런 타이머는 없어요."
TIMER_CANCELLED = "타이머를 취소했어요."
TIMERS_CANCELLED = "타이머를 모두 취소했어요."
VOLUME_WHICH = "볼륨을 일에서 십까지 몇으로 할까요?"
VOLUME_HIGHEST = "더 크게 말할 수 없어요."
VOLUME_LOWEST = "더 작게 말할 수 없어요."

BACK_CHANNELS = (
    *("음", "흠", "으음", "응", "으응", "어", "아", "아하", "오", "와", "우와", "헐", "에", "엥", "허", "흐음"),
    *("네", "예", "넵", "네네", "그래", "그래요", "그렇구나", "그렇군", "그렇군요", "그렇지", "그렇죠", "그러네"),
    *("그러네요", "그러게", "그러게요", "그럼", "그럼요", "맞아", "맞아요", "맞습니다", "당연하지", "물론이지"),
    *("물론이죠", "알았어", "알았어요", "알겠어", "알겠어요", "알겠습니다", "알아", "알아요", "오케이"),
    *("이해했어", "이해했어요", "좋아", "좋아요", "좋네", "좋네요", "잘했어", "최고야", "완벽해", "멋지다"),
    *("대단하다", "대단하네", "신기하다", "신기하네", "재미있네", "재밌네", "흥미롭네", "진짜", "진짜요"),
    *("정말", "정말요", "그래서", "계속", "계속해", "고마워", "고마워요", "고맙습니다", "감사합니다"),
)

_DAYS = ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일")
_MONTHS = (
    *("일월", "이월", "삼월", "사월", "오월", "유월"),
    *("칠월", "팔월", "구월", "시월", "십일월", "십이월"),
)

_FINAL = frozenset((0, 1, 3, 6, 7, 8, 10))
"""The numbers that end in a consonant."""

_numbers = RbnfEngine.for_language("ko")


def tell_time(now: time) -> str:
    """As people say it, hours in Korean and minutes in Chinese numbers: "지금은 오후 세 시 삼십 분이에요."."""
    part = {0: "밤", 12: "낮"}.get(now.hour, "오전" if now.hour < 12 else "오후")
    hour = _cardinal(now.hour % 12 or 12, "native-attributive")
    if now.minute == 0:
        return f"지금은 {part} {hour} 시예요."
    return f"지금은 {part} {hour} 시 {_cardinal(now.minute, 'sinokorean')} 분이에요."


def tell_date(today: date) -> str:
    """As people say it: "오늘은 십일월 삼십일 월요일이에요."."""
    day = _cardinal(today.day, "sinokorean")
    return f"오늘은 {_MONTHS[today.month - 1]} {day}일 {_DAYS[today.weekday()]}이에요."


def timer_called(name: str, seconds: int) -> str:
    """ "파스타 타이머", "십 분 타이머"."""
    return f"{name} 타이머" if name else f"{_duration(seconds)} 타이머"


def timer_set(name: str, seconds: int) -> str:
    """ "십 분 타이머를 시작할게요."."""
    called = timer_called(name, seconds)
    return f"{called}를 시작할게요. {_duration(seconds)} 뒤에 알려 드릴게요." if name else f"{called}를 시작할게요."


def timer_which(called: Sequence[str]) -> str:
    """Which there are, and how to name one."""
    return f"{', '.join(called)}가 있어요. 어떤 타이머를 취소할지, 아니면 타이머를 모두 취소하라고 말해 주세요."


def timers_left(left: Sequence[tuple[str, int]]) -> str:
    """ "이 분 십 초 남았어요."."""
    if len(left) == 1:
        return f"{_duration(left[0][1])} 남았어요."
    return " ".join(f"{called}는 {_duration(seconds)} 남았어요." for called, seconds in left)


def timers_done(called: Sequence[str]) -> str:
    """ "파스타 타이머가 끝났어요."."""
    return f"{', '.join(called)}가 끝났어요."


def timers_missed(called: Sequence[str]) -> str:
    """ "제가 꺼져 있는 동안 파스타 타이머가 끝났어요."."""
    return f"제가 꺼져 있는 동안 {', '.join(called)}가 끝났어요."


def volume_set(level: int) -> str:
    """ "볼륨 오."."""
    return f"볼륨 {_cardinal(level, 'sinokorean')}."


def tell_volume(level: int) -> str:
    """ "볼륨은 십 중에서 오예요."."""
    ending = "이에요" if level in _FINAL else "예요"
    return f"볼륨은 십 중에서 {_cardinal(level, 'sinokorean')}{ending}."


def _duration(seconds: int) -> str:
    kinds = ("native-attributive", "sinokorean", "sinokorean")
    names = ("시간", "분", "초")
    return " ".join(f"{_cardinal(count, kinds[unit])} {names[unit]}" for unit, count in parts(seconds))


def _cardinal(number: int, kind: str) -> str:
    return _numbers.format_number(number, ruleset_names=[f"spellout-cardinal-{kind}"]).text
