"""Shapes of answers: what must be there; more may be.

A shape is a type (`int` and `float` take no booleans, `float` takes integers too), a value, a list of one shape for its
items, an object of shapes by field, or a tuple of alternatives.
"""


def fits(value, shape, where):
    """Raises AssertionError with the path of the first field that does not fit."""
    if isinstance(shape, tuple):
        assert any(_is(value, alternative, where) for alternative in shape), f"{where}: {value!r} is none of {shape}"
    elif isinstance(shape, dict):
        assert isinstance(value, dict), f"{where}: {value!r} is no object"
        for field, inner in shape.items():
            assert field in value, f"{where}: {field} is missing in {value!r}"
            fits(value[field], inner, f"{where}.{field}")
    elif isinstance(shape, list):
        assert isinstance(value, list), f"{where}: {value!r} is no array"
        for index, item in enumerate(value):
            fits(item, shape[0], f"{where}[{index}]")
    elif isinstance(shape, type):
        assert _has_type(value, shape), f"{where}: {value!r} is no {shape.__name__}"
    else:
        assert type(value) is type(shape) and value == shape, f"{where}: {value!r} is not {shape!r}"


def _is(value, shape, where):
    try:
        fits(value, shape, where)
    except AssertionError:
        return False
    return True


def _has_type(value, wanted):
    if wanted in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if wanted is float else wanted)
