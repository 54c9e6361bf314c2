"""Reads the PNG files of screenshots: 8-bit RGB or RGBA, not interlaced."""
import collections, struct, zlib


def pixels(png):
    """(width, height, list of pixels as tuples)."""
    if png[:8] != b'\x89PNG\r\n\x1a\n':
        raise ValueError('not a PNG file')
    at, data, header = 8, b'', None
    while at < len(png):
        length, kind = struct.unpack('>I4s', png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b'IHDR':
            header = struct.unpack('>IIBBBBB', body)
        elif kind == b'IDAT':
            data += body
        at += length + 12
    width, height, depth, colour, _, _, interlaced = header
    if depth != 8 or colour not in (2, 6) or interlaced:
        raise ValueError(f'PNG of depth {depth}, colour type {colour}')
    size = 3 if colour == 2 else 4
    raw, previous, out = zlib.decompress(data), bytearray(width * size), []
    for y in range(height):
        start = y * (width * size + 1)
        previous = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + width * size]), previous, size)
        out += zip(*(previous[c::size] for c in range(size)))
    return width, height, out


def unfiltered(kind, row, above, size):
    """A row without the prediction that PNG encodes it with."""
    for i in range(len(row)) if kind else ():
        left = row[i - size] if i >= size else 0
        corner = above[i - size] if i >= size else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[i]
        elif kind == 3:
            guess = (left + above[i]) // 2
        else:
            p = left + above[i] - corner
            guess = min((abs(p - left), 0, left), (abs(p - above[i]), 1, above[i]), (abs(p - corner), 2, corner))[2]
        row[i] = (row[i] + guess) & 255
    return row


def painted_share(png):
    """The share of pixels that have another colour than the most frequent one."""
    _, _, all_pixels = pixels(png)
    return 1 - collections.Counter(all_pixels).most_common(1)[0][1] / len(all_pixels)


def brightness(png):
    """Mean brightness from 0 to 255."""
    _, _, all_pixels = pixels(png)
    return sum(sum(p[:3]) for p in all_pixels) / (3 * len(all_pixels))
