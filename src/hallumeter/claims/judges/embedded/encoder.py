"""The encoder of the network, run by onnxruntime where it is installed and by numpy everywhere else.

Both read the same file. Its large products are of whole numbers: activations are scaled to 0…255 by what is read
together, weights to -127…127. onnxruntime keeps them as such; numpy multiplies them as floats, which is exact while no
sum passes 2**24, and on none of the weights can it (`exact` looks). What lies between the products is rounded, and a
rounding moves now and then an activation to its neighbour. numpy does it in double precision, where that practically
never happens: it says the same on every processor, to the twelfth digit. onnxruntime rounds in single precision, as
each processor does best: it agrees with itself on another processor as well as with numpy.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from hallumeter.errors import SettingsError

from .model_files import damaged, model_bytes

if TYPE_CHECKING:
    import onnxruntime

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Engine = Callable[[Floats, NDArray[np.int64]], Floats]
"""Takes the vectors and the kinds of the tokens of a chunk, and says four numbers of each token."""
FILE = "encoder.onnx"


ENGINE = "HALLUMETER_ENCODER"
"""The environment variable that names the engine."""


def engine() -> Engine:
    """The engine that the environment names, or else the faster of those that can be had here.

    Raises:
        SettingsError: There is no engine of that name, or it is not installed.
    """
    named = os.environ.get(ENGINE, "")
    if named not in {"", "numpy", "onnxruntime"}:
        raise SettingsError(f"{ENGINE} is {named!r}; expected numpy or onnxruntime")
    if named == "numpy":
        return numpy_engine()
    try:
        return onnx_engine()
    except ImportError as error:
        if named:
            raise SettingsError(f"{ENGINE} is onnxruntime: pip install 'hallumeter[onnx]'") from error
        return numpy_engine()


@cache
def onnx_engine() -> Engine:
    """The one of onnxruntime.

    Raises:
        ImportError: It is not installed, or has no build for this machine.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Several processes use the cores better, and the result is the same with any number of them.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session: onnxruntime.InferenceSession = onnxruntime.InferenceSession(
        model_bytes(FILE), options, providers=["CPUExecutionProvider"]
    )

    def read(words: Floats, kinds: NDArray[np.int64]) -> Floats:
        rows: Floats = session.run(None, {"words": words[None], "kinds": kinds[None]})[0][0]
        return rows

    return read


@cache
def numpy_engine() -> Engine:
    """The same network in numpy."""
    network = _network(read_file(model_bytes(FILE)))

    def read(words: Floats, kinds: NDArray[np.int64]) -> Floats:
        with one_thread():
            return network(words, kinds)

    return read


def one_thread() -> ThreadpoolController:
    """A block in which numpy multiplies in one thread: more would disturb the other processes."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


# The network: BERT with six layers, each with twelve heads of attention.

_HEADS, _WIDTH, _LAYERS = 12, 384, 6
_LARGEST = 255
_EXACT = 1 << 24
_TINY = 1e-12
_ROWS = 8
"""Rows that are taken through the steps of `_gelu` together: as many as stay in the nearest cache."""
_CEILING = 3.7 * math.sqrt(2.0)
"""Where the error function is one to the last digit."""
# The error function of x / √2 as x·P(x²)/Q(x²), fitted to it up to the ceiling; at most 1.3e-7 apart.
_P = (0.797883779, 0.100733435, 0.011150149, 0.000645561835, 1.19433354e-05)
_Q = (1.0, 0.29291097, 0.0378047937, 0.00275353913, 0.000115781321, 5.10445722e-07)


class _Product(Struct, frozen=True):
    """A product with weights in eight bits, and what is added to it."""

    weights: Floats
    """Whole numbers."""
    scales: Floats
    """One for each column."""
    bias: Floats

    def __call__(self, rows: Doubles) -> Doubles:
        whole, scale = _scaled(rows)
        product = (whole @ self.weights).astype(np.float64)
        product *= scale * self.scales
        product += self.bias
        return product


class _Norm(Struct, frozen=True):
    """Rows with mean 0 and variance 1, then stretched and shifted."""

    weight: Floats
    bias: Floats

    def __call__(self, rows: Doubles) -> Doubles:
        normal: Doubles = rows - rows.mean(axis=-1, keepdims=True)
        variance = np.einsum("ij,ij->i", normal, normal)[:, None] / _WIDTH
        normal /= np.sqrt(variance + _TINY)
        normal *= self.weight
        normal += self.bias
        return normal


class _Layer(Struct, frozen=True):
    looked_up: _Product
    """Queries, keys and values, side by side."""
    attended: _Product
    attended_norm: _Norm
    inner: _Product
    outer: _Product
    outer_norm: _Norm

    def __call__(self, rows: Doubles) -> Doubles:
        attended = self.attended(_attention(self.looked_up(rows)))
        attended += rows
        rows = self.attended_norm(attended)
        outer = self.outer(_gelu(self.inner(rows)))
        outer += rows
        return self.outer_norm(outer)


class _Network(Struct, frozen=True):
    places: Floats
    kinds: Floats
    norm: _Norm
    layers: tuple[_Layer, ...]
    head: _Product

    def __call__(self, words: Floats, kinds: NDArray[np.int64]) -> Floats:
        rows = self.norm(words.astype(np.float64) + self.kinds[kinds] + self.places[: len(words)])
        for layer in self.layers:
            rows = layer(rows)
        return self.head(rows).astype(np.float32)


def _scaled(rows: Doubles) -> tuple[Floats, float]:
    """Whole numbers and the scale that they were divided by; 0 stays 0, and all of them span 0…255."""
    low, high = min(0.0, float(rows.min())), max(0.0, float(rows.max()))
    scale = (high - low) / _LARGEST or 1.0
    zero = min(max(round(-low / scale), 0), _LARGEST)
    whole = rows / scale
    np.rint(whole, out=whole)
    np.clip(whole, -zero, _LARGEST - zero, out=whole)
    return whole.astype(np.float32), scale


def _attention(looked_up: Doubles) -> Doubles:
    count = len(looked_up)
    queries, keys, values = looked_up.reshape(count, 3, _HEADS, _WIDTH // _HEADS).transpose(1, 2, 0, 3)
    weights = queries @ keys.transpose(0, 2, 1)
    weights *= 1.0 / math.sqrt(_WIDTH // _HEADS)
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray((weights @ values).transpose(1, 0, 2).reshape(count, _WIDTH))


def _gelu(rows: Doubles) -> Doubles:
    """Each number times the probability that a normal one is smaller, in place."""
    for first in range(0, len(rows), _ROWS):
        part = rows[first : first + _ROWS]
        clipped = np.clip(part, -_CEILING, _CEILING)
        square = clipped * clipped
        error = _polynomial(_P, square)
        error *= clipped
        error /= _polynomial(_Q, square)
        error += 1.0
        part *= error
        part *= 0.5
    return rows


def _polynomial(coefficients: tuple[float, ...], x: Doubles) -> Doubles:
    *rest, last = coefficients
    value = x * last
    for coefficient in rest[:0:-1]:
        value += coefficient
        value *= x
    value += rest[0]
    return value


class Weights(Struct, frozen=True):
    """What the file holds."""

    arrays: dict[str, NDArray[np.float32 | np.int8]]
    products: dict[str, str]
    """By the place of a product in the network, the name of its weights."""


def _network(weights: Weights) -> _Network:
    try:
        return _Network(
            _floats(weights, "encoder.embeddings.position_embeddings.weight"),
            _floats(weights, "encoder.embeddings.token_type_embeddings.weight"),
            _norm(weights, "encoder.embeddings.LayerNorm"),
            tuple(_layer(weights, f"encoder.encoder.layer.{number}") for number in range(_LAYERS)),
            _product(weights, "head"),
        )
    except KeyError as error:
        raise damaged(FILE) from error


def _layer(weights: Weights, place: str) -> _Layer:
    looked_up = [_product(weights, f"{place}.attention.self.{name}") for name in ("query", "key", "value")]
    return _Layer(
        _Product(
            np.concatenate([each.weights for each in looked_up], axis=1),
            np.concatenate([each.scales for each in looked_up]),
            np.concatenate([each.bias for each in looked_up]),
        ),
        _product(weights, f"{place}.attention.output.dense"),
        _norm(weights, f"{place}.attention.output.LayerNorm"),
        _product(weights, f"{place}.intermediate.dense"),
        _product(weights, f"{place}.output.dense"),
        _norm(weights, f"{place}.output.LayerNorm"),
    )


def _product(weights: Weights, place: str) -> _Product:
    name = weights.products[place]
    whole = exact(weights.arrays[f"{name}_quantized"].astype(np.float32))
    return _Product(whole, _floats(weights, f"{name}_scale", ""), _floats(weights, f"{place}.bias"))


def exact(whole: Floats) -> Floats:
    """The weights, after a look at whether every sum with them is a whole number that a float can hold."""
    if np.abs(whole).sum(axis=0).max() * _LARGEST >= _EXACT:
        raise damaged(FILE)
    return whole


def _norm(weights: Weights, place: str) -> _Norm:
    return _Norm(_floats(weights, f"{place}.weight"), _floats(weights, f"{place}.bias"))


def _floats(weights: Weights, name: str, before: str = "model.") -> Floats:
    return np.asarray(weights.arrays[before + name], np.float32)


# The file: protocol buffers, of which only weights are read, and which product takes which.

_GRAPH, _NODE, _INITIALIZER = 7, 1, 5
_INPUT, _OUTPUT, _OPERATION = 1, 2, 4
_DIMENSIONS, _KIND, _FLOATS, _NAME, _RAW = 1, 2, 4, 8, 9
_KINDS = {1: np.float32, 3: np.int8}
_PRODUCT = b"MatMulInteger"
Field = tuple[int, int | memoryview]


def read_file(content: bytes) -> Weights:
    """The weights of a network in the format of ONNX."""
    arrays, products = {}, {}
    for graph in _messages(memoryview(content), _GRAPH):
        for tensor in _messages(graph, _INITIALIZER):
            name, array = _array(tensor)
            if array is not None:
                arrays[name] = array
        for node in _messages(graph, _NODE):
            if _PRODUCT in _texts(node, _OPERATION):
                place = _texts(node, _OUTPUT)[0].decode().partition("/MatMul")[0].removeprefix("/model/")
                products[place.replace("/", ".")] = _texts(node, _INPUT)[1].decode().removesuffix("_quantized")
    return Weights(arrays, products)


def _array(tensor: memoryview) -> tuple[str, NDArray[np.float32 | np.int8] | None]:
    """Name and numbers of a tensor; None when they are of a kind that is not needed."""
    shape = [number for field, number in _fields(tensor) if field == _DIMENSIONS and isinstance(number, int)]
    kind = next(number for field, number in _fields(tensor) if field == _KIND)
    stored = next(iter((*_messages(tensor, _RAW), *_messages(tensor, _FLOATS))), None)
    name = _texts(tensor, _NAME)[0].decode()
    if stored is None or not isinstance(kind, int) or kind not in _KINDS:
        return name, None
    return name, np.frombuffer(stored, np.dtype(_KINDS[kind]).newbyteorder("<")).reshape(shape)


def _messages(content: memoryview, number: int) -> Iterator[memoryview]:
    return (value for field, value in _fields(content) if field == number and isinstance(value, memoryview))


def _texts(content: memoryview, number: int) -> list[bytes]:
    return [bytes(value) for value in _messages(content, number)]


def _fields(content: memoryview) -> Iterator[Field]:
    """Numbers and values of the fields of a message: whole numbers, or bytes."""
    place = 0
    while place < len(content):
        key, place = _number(content, place)
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            value, place = _number(content, place)
            yield key >> 3, value
            continue
        if size is None:
            size, place = _number(content, place)
        yield key >> 3, content[place : place + size]
        place += size


def _number(content: memoryview, place: int) -> tuple[int, int]:
    """A whole number in groups of seven bits, the smallest first, and where it ends."""
    value = shift = 0
    while True:
        group = content[place]
        value |= (group & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if group < 0x80:
            return value, place
