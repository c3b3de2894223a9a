import fc from 'fast-check'

/** Any code point, for `fc.string({ unit })`. fast-check’s own unit `binary` takes most of a second to start. */
export const anyCharacter = fc.nat({ max: 0x10ffff }).map(code => String.fromCodePoint(code))
