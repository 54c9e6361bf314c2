"""What NumPy asks arrays for. NumPy and ml_dtypes are needed where they are used only."""
from ._native import Array, _type_names

_NUMPY_NAMES = dict(_type_names)


def dtype_of(name):
    """The dtype of NumPy, or of ml_dtypes, for HLO's name of an element type."""
    import numpy

    numpy_name = _NUMPY_NAMES[name]
    try:
        return numpy.dtype(numpy_name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"NumPy has no type for {name}, and ml_dtypes, which has it, is not installed") from None
    if not hasattr(ml_dtypes, numpy_name):
        raise TypeError(f"neither NumPy nor ml_dtypes has a type for {name}")
    return numpy.dtype(getattr(ml_dtypes, numpy_name))


def to_numpy(self):
    """The array for NumPy: the same memory, read only. Raises TypeError for types that ml_dtypes is missing for."""
    import numpy

    return numpy.frombuffer(self.data, dtype=dtype_of(self.dtype)).reshape(self.shape)


def from_npy(content, dtype):
    """The array of a copy that was made by pickle."""
    return Array.from_npy(content, dtype)


def to_array(self, dtype=None, copy=None):
    """For numpy.asarray() and numpy.array()."""
    made = to_numpy(self)
    if dtype is not None and made.dtype != dtype:
        if copy is False:
            raise ValueError(f"the elements are {self.dtype}: another type needs a copy")
        return made.astype(dtype)
    return made.copy() if copy else made
