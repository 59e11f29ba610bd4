"""Ed25519 signatures as in RFC 8032, section 5.1, with the refusals of Docs/FORMAT.md, section 21. Slow, and not for secrets."""
import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)
SMALL = {0, 1, P - 1} | {
    int.from_bytes(bytes.fromhex(text), "little")
    for text in ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
                 "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")}


def coordinate(encoded):
    return int.from_bytes(encoded, "little") & (2**255 - 1)


def acceptable(encoded):
    """Whether 32 bytes are a canonical encoding of a point that is not of small order."""
    return len(encoded) == 32 and coordinate(encoded) < P and coordinate(encoded) not in SMALL


def point(encoded):
    """The point in extended coordinates; None if it does not exist."""
    y = coordinate(encoded)
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P:
        return None
    if x & 1 != encoded[31] >> 7:
        x = P - x
    return x, y, 1, x * y % P


def add(one, other):
    a, b = (one[1] - one[0]) * (other[1] - other[0]) % P, (one[1] + one[0]) * (other[1] + other[0]) % P
    c, d = 2 * one[3] * other[3] * D % P, 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number, base):
    sum_ = (0, 1, 1, 0)
    while number:
        if number & 1:
            sum_ = add(sum_, base)
        base, number = add(base, base), number >> 1
    return sum_


def same(one, other):
    return not ((one[0] * other[2] - other[0] * one[2]) % P or (one[1] * other[2] - other[1] * one[2]) % P)


BASE = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def encoded(place):
    inverse = pow(place[2], P - 2, P)
    x, y = place[0] * inverse % P, place[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def hashed(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def verify(key, message, signature):
    scalar = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or not acceptable(key) or not acceptable(signature[:32]) or scalar >= ORDER:
        return False
    a, r = point(key), point(signature[:32])
    if a is None or r is None:
        return False
    return same(times(scalar, BASE), add(r, times(hashed(signature[:32], key, message) % ORDER, a)))


def secret_scalar(seed):
    digest = bytearray(hashlib.sha512(seed).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    return int.from_bytes(digest, "little")


def public_key(seed):
    return encoded(times(secret_scalar(seed), BASE))


def sign(seed, message):
    key, scalar = public_key(seed), secret_scalar(seed)
    nonce = hashed(hashlib.sha512(seed).digest()[32:], message) % ORDER
    r = encoded(times(nonce, BASE))
    return r + ((nonce + hashed(r, key, message) * scalar) % ORDER).to_bytes(32, "little")
