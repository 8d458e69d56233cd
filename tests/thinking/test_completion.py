"""The answers of real servers, as they send them, and everything that may be wrong with one."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn

from appliance.thinking.completion import LONGEST_ANSWER, CompletionDecoder, Finished, Text
from appliance.thinking.server import Problem, ServerError
from appliance.thinking.sse import BOM
from tests.thinking.cuts import cut

Outcome = tuple[str, str | None, Problem | None, str]
"""What was said, the reason to finish, and the problem with its detail."""


def outcome(*pieces: bytes) -> Outcome:
    said, reason = "", None
    decoder = CompletionDecoder()
    try:
        for part in (part for piece in (*pieces, None) for part in _decoded(decoder, piece)):
            assert reason is None, "nothing comes after the end"
            if isinstance(part, Text):
                assert part.text
                said += part.text
            else:
                reason = part.reason
    except ServerError as error:
        return said, reason, error.problem, error.detail
    return said, reason, None, ""


def _decoded(decoder: CompletionDecoder, piece: bytes | None) -> Iterable[Text | Finished]:
    return decoder.finish() if piece is None else decoder.feed(piece)


def chunk(content: object = None, finish: str | None = None, **delta: object) -> str:
    if content is not None:
        delta["content"] = content
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"object": "chat.completion.chunk", "choices": [choice]})


def stream(*chunks: str, done: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {each}\n\n" for each in chunks) + done).encode()


HELLO = [chunk("Good"), chunk(" morning."), chunk(finish="stop")]
SAID = ("Good morning.", "stop", None, "")

LLAMA_CPP = b"""\
:

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1796049533,\
"id":"chatcmpl-R","model":"m","system_fingerprint":"b0-unknown","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"reasoning_content":"Hm"}}],"object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Good"}}],"object":"chat.completion.chunk"}

:

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":" morning."}}],"object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"object":"chat.completion.chunk"}

data: {"choices":[],"object":"chat.completion.chunk","usage":{"completion_tokens":2,"prompt_tokens":33,\
"total_tokens":35},"timings":{"cache_n":32,"prompt_n":1,"prompt_ms":55.387}}

data: [DONE]

"""

OLLAMA = b"""\
data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp_ollama",\
"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"Hm"},"finish_reason":null}]}

data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp_ollama",\
"choices":[{"index":0,"delta":{"role":"assistant","content":"Good"},"finish_reason":null}]}

data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp_ollama",\
"choices":[{"index":0,"delta":{"role":"assistant","content":" morning."},"finish_reason":null}]}

data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp_ollama",\
"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}

data: [DONE]

"""

VLLM = b"""\
data: {"id":"chatcmpl-3","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":\
{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}

data: {"id":"chatcmpl-3","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":\
{"content":"Good"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":null}

data: {"id":"chatcmpl-3","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":\
{"content":" morning."},"logprobs":null,"finish_reason":"stop","stop_reason":null}],"usage":null}

data: {"id":"chatcmpl-3","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":\
{"prompt_tokens":9,"total_tokens":12,"completion_tokens":3}}

data: [DONE]

"""

WHOLE = json.dumps(
    {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "<think>Hm</think>\n\nGood morning.", "tool_calls": []},
                "finish_reason": "stop",
            }
        ],
        "usage": {"total_tokens": 12},
    },
    indent=2,
).encode()
"""Of a server that does not stream."""


@pytest.mark.parametrize("answer", [LLAMA_CPP, OLLAMA, VLLM, WHOLE], ids=["llama.cpp", "Ollama", "vLLM", "whole"])
def test_real_answers_are_understood(answer: bytes) -> None:
    assert outcome(answer) == SAID


@pytest.mark.parametrize("answer", [LLAMA_CPP, OLLAMA, VLLM], ids=["llama.cpp", "Ollama", "vLLM"])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=["LF", "CR", "CRLF"])
def test_lines_may_end_with_anything(answer: bytes, end: bytes) -> None:
    assert outcome(b"\xef\xbb\xbf" + answer.replace(b"\n", end)) == SAID


@pytest.mark.parametrize("answer", [LLAMA_CPP, WHOLE], ids=["stream", "whole"])
def test_the_mark_of_the_byte_order_may_be_cut(answer: bytes) -> None:
    assert outcome(BOM[:1], BOM[1:2], BOM[2:] + answer) == SAID


@pytest.mark.parametrize("done", ["data: [DONE]\n\n", "data: [DONE]\n", "data: [DONE]", "data:[DONE]\n\n", ""])
@pytest.mark.parametrize("chunks", [HELLO, HELLO[:2]], ids=["with a reason", "without a reason"])
def test_done_ends_an_answer_and_so_does_a_reason(chunks: list[str], done: str) -> None:
    said, reason, problem, _ = outcome(stream(*chunks, done=done))
    assert said == "Good morning."
    if chunks is HELLO:
        assert (reason, problem) == ("stop", None)
    else:
        assert (reason, problem) == (("", None) if done else (None, Problem.BROKEN))


def test_an_answer_is_over_with_its_reason_though_the_stream_goes_on() -> None:
    decoder = CompletionDecoder()
    parts = list(decoder.feed(stream(*HELLO, done="")))
    assert parts == [Text("Good"), Text(" morning."), Finished("stop")]
    assert list(decoder.feed(stream(chunk("Not this."), '{"error": "nor this"}'))) == []
    assert list(decoder.finish()) == []


@pytest.mark.parametrize(
    "nothing",
    [
        chunk(role="assistant"),
        chunk("", role="assistant"),
        json.dumps({"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}, "finish_reason": None}]}),
        json.dumps({"choices": [{"index": 0, "delta": None}]}),
        json.dumps({"choices": [{"index": 0}]}),
        json.dumps({"choices": []}),
        json.dumps({"choices": None, "usage": {"total_tokens": 1}}),
        json.dumps({"choices": [{"index": 1, "delta": {"content": "Another one."}, "finish_reason": "stop"}]}),
        json.dumps({"type": "ping"}),
        json.dumps({"prompt_progress": {"total": 100, "processed": 50}, "choices": [{"index": 0, "delta": {}}]}),
        chunk(reasoning_content="Hm"),
        chunk(reasoning="Hm"),
        chunk("<think>Hm"),
        chunk("<think>Hm</think>"),
        chunk(" \n"),
        chunk(tool_calls=[{"index": 0, "function": {"name": "lights", "arguments": '{"ro'}}]),
        chunk(function_call={"name": "lights"}),
        chunk([{"type": "thinking"}]),
        chunk(finish=""),
    ],
)
def test_what_is_not_to_be_spoken_is_no_text(nothing: str) -> None:
    assert list(CompletionDecoder().feed(stream(nothing, done=""))) == []
    close = [chunk("</think>")] if "<think>" in nothing and "</" not in nothing else []
    assert outcome(stream(nothing, *close, *HELLO)) == SAID


def test_pings_and_other_events_are_nothing() -> None:
    pings = b": ping\n\nevent: ping\ndata: {}\n\nevent: progress\ndata: half\n\ndata:\n\n"
    assert outcome(pings + stream(*HELLO)) == SAID


def test_reasoning_may_be_cut_anywhere() -> None:
    chunks = [chunk(letter) for letter in "<think>Is it < 5?</think>\n\n1 < 2"]
    assert outcome(stream(*chunks, chunk(finish="stop"))) == ("1 < 2", "stop", None, "")


def test_what_may_begin_a_tag_is_said_at_the_end() -> None:
    assert outcome(stream(chunk("1 <"), chunk(finish="stop"))) == ("1 <", "stop", None, "")


def test_half_a_character_waits_for_the_other_half() -> None:
    halves = [json.dumps({"choices": [{"delta": {"content": half}}]}) for half in ("Hi \ud83d", "\ude00!")]
    assert outcome(stream(*halves, chunk(finish="stop"))) == ("Hi 😀!", "stop", None, "")
    alone = [json.dumps({"choices": [{"delta": {"content": half}}]}) for half in ("a\ude00", "b\ud83d", "c")]
    said, *_ = outcome(stream(*alone, chunk(finish="stop")))
    assert said == "a\ufffdb\ufffdc"


@pytest.mark.parametrize(
    ("thought", "detail"),
    [
        ([chunk("<think>Hm"), chunk(" hm", "length")], "reasoned and said nothing (length)"),
        ([chunk(reasoning="Hm"), chunk(finish="length")], "reasoned and said nothing (length)"),
        ([chunk("", "stop")], "answers nothing (stop)"),
        ([chunk("\n\n", "stop")], "answers nothing (stop)"),
        ([chunk(tool_calls=[{"index": 0}]), chunk(finish="tool_calls")], "answers nothing (tool_calls)"),
        ([], "answers nothing (without a reason)"),
    ],
)
def test_an_answer_without_a_word_is_none(thought: list[str], detail: str) -> None:
    assert outcome(stream(*thought)) == ("", None, Problem.BROKEN, detail)


@pytest.mark.parametrize(
    ("error", "problem", "detail"),
    [
        pytest.param(
            'data: {"error":{"code":500,"message":"context shift is disabled","type":"server_error"}}\n\n',
            *(Problem.BROKEN, "breaks off: context shift is disabled"),
            id="llama.cpp",
        ),
        pytest.param(
            'data: {"error":{"code":400,"message":"request (2031 tokens) exceeds the available context size '
            '(512 tokens), try increasing it","type":"exceed_context_size_error","n_ctx":512}}\n\n',
            Problem.TOO_LONG,
            "breaks off: request (2031 tokens) exceeds the available context size (512 tokens), try increasing it",
            id="llama.cpp, context",
        ),
        pytest.param(
            'data: {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}\n\n',
            *(Problem.WARMING, "breaks off: Loading model"),
            id="llama.cpp, loading",
        ),
        pytest.param(
            'data: {"error":{"message":"EngineCore encountered an issue.","type":"InternalServerError",'
            '"param":null,"code":500}}\n\ndata: [DONE]\n\n',
            *(Problem.BROKEN, "breaks off: EngineCore encountered an issue."),
            id="vLLM",
        ),
        pytest.param(
            'data: {"object":"error","message":"The model `m` does not exist.","type":"NotFoundError",'
            '"param":null,"code":404}\n\ndata: [DONE]\n\n',
            *(Problem.MISCONFIGURED, "breaks off: The model `m` does not exist."),
            id="vLLM, older",
        ),
        pytest.param(
            f"data: {chunk('', role='assistant')}\n\n",
            *(Problem.BROKEN, "breaks off in the middle of its answer"),
            id="Ollama",
        ),
        pytest.param(
            'event: error\ndata: {"error":{"message":"The model has crashed without additional information."}}\n\n',
            *(Problem.BROKEN, "breaks off: The model has crashed without additional information."),
            id="LM Studio",
        ),
        pytest.param(
            'event: error\ndata: {"error":"Model\\nunloaded."}\n\n',
            *(Problem.BROKEN, "breaks off: Model unloaded."),
            id="LM Studio, text",
        ),
        pytest.param(
            "event: error\ndata: out of memory\n\n", Problem.BROKEN, "breaks off: out of memory", id="no object"
        ),
        pytest.param(
            'data: {"error":{"code":429,"message":"slow down"}}\n\n',
            *(Problem.AT_CAPACITY, "breaks off: slow down"),
            id="busy",
        ),
        pytest.param(
            f"data: {chunk('', 'abort')}\n\n",
            *(Problem.BROKEN, "breaks off in the middle of its answer (abort)"),
            id="aborted",
        ),
        pytest.param('data: {"choices":[{"in', Problem.BROKEN, "breaks off in the middle of its answer", id="cut"),
        pytest.param("data: nonsense\n\n", Problem.BROKEN, "sends what is no answer: nonsense", id="garbage"),
        pytest.param("data: [1]\n\n", Problem.BROKEN, "sends what is no answer: [1]", id="no chunk"),
        pytest.param('data: {"choices": 1}\n\n', Problem.BROKEN, 'sends what is no answer: {"choices": 1}', id="shape"),
    ],
)
@pytest.mark.parametrize("said", [[], HELLO[:2]], ids=["at once", "midway"])
def test_errors_after_the_status_200(said: list[str], error: str, problem: Problem, detail: str) -> None:
    found, reason, *told = outcome(stream(*said, done=error))
    assert (found, reason) == ("".join(["Good morning."][: len(said)]), None)
    assert told == [problem, detail]


@pytest.mark.parametrize(
    ("body", "problem", "detail"),
    [
        (b"", Problem.BROKEN, "sends no answer at all"),
        (b"\n\n", Problem.BROKEN, "sends no answer at all"),
        (b"Hello", Problem.BROKEN, "sends no answer at all"),
        (b"<!doctype html><p>Log in", Problem.BROKEN, "sends what is no answer: a web page"),
        (b"\xef\xbb\xbf\r\n <html>", Problem.BROKEN, "sends what is no answer: a web page"),
        (b"{}", Problem.BROKEN, "answers nothing (without a reason)"),
        (b'{"choices": [', Problem.BROKEN, 'sends what is no answer: {"choices": ['),
        (b'{"a": ' + b"[" * 100_000, Problem.BROKEN, 'sends what is no answer: {"a": ' + "[" * 268 + "…"),
        (b'{"error": {"message": "no", "code": 401}}', Problem.MISCONFIGURED, "breaks off: no"),
        (
            b'{"error": "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}',
            Problem.MISCONFIGURED,
            "breaks off: Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway",
        ),
    ],
)
def test_what_is_no_stream_at_all(body: bytes, problem: Problem, detail: str) -> None:
    assert outcome(body) == ("", None, problem, detail)


def test_what_has_no_end_is_given_up() -> None:
    for begin, what in ((b"data: ", "a line is longer"), (b": ", "a line is longer"), (b'{"', "an answer of more")):
        said, _, problem, detail = outcome(begin, *[b"x" * 65_536] * 20)
        assert (said, problem) == ("", Problem.BROKEN)
        assert detail == f"sends what is no answer: {what} than 1,048,576 bytes"
    endless = [stream(chunk("x" * 1000), done="")] * (LONGEST_ANSWER // 1000 + 1)
    said, _, problem, _ = outcome(*endless)
    assert (len(said), problem) == (LONGEST_ANSWER, Problem.BROKEN)


SCRAPS = [*LLAMA_CPP.decode().split("\n\n"), *(chunk(text) for text in ("a", "<think>", "</think>", "<", " ", "é😀"))]


@st.composite
def answers(draw: DrawFn) -> bytes:
    """A stream of chunks that are in no order, or anything else."""
    kind = draw(st.sampled_from(["real", "chunks", "scraps", "bytes"]))
    if kind == "real":
        return draw(st.sampled_from([b"", b"\r\n", BOM])) + draw(st.sampled_from([LLAMA_CPP, OLLAMA, VLLM, WHOLE]))
    if kind == "bytes":
        return draw(st.binary(max_size=100))
    if kind == "scraps":
        return draw(st.text('{}[]:"\n\rdata <\ufeff', max_size=100)).encode()
    end = draw(st.sampled_from(["\n\n", "\r\n\r\n", "\r\r", "\n"]))
    return "".join(f"data: {scrap}{end}" for scrap in draw(st.lists(st.sampled_from(SCRAPS), max_size=8))).encode()


@given(answers(), st.data())
def test_an_answer_is_the_same_however_it_is_cut(whole: bytes, draws: DataObject) -> None:
    assert outcome(*draws.draw(cut(whole))) == outcome(whole)
