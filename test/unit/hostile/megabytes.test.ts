import { afterEach, beforeEach, expect, test } from 'vitest'
import { many, nastyKinds } from '#test/hostile/megabytes.ts'
import { long, parsers } from '#test/hostile/parsers.ts'

const exec = RegExp.prototype.exec
/** Characters of the longest text that an expression has run on. */
let longest = 0

beforeEach(() => {
  RegExp.prototype.exec = function (text) {
    longest = Math.max(longest, String(text).length)
    return exec.call(this, text)
  }
})
afterEach(() => {
  RegExp.prototype.exec = exec
})

test.each(parsers)('reads at most $most characters of a long text: $reads', parser => {
  for (const [about, piece] of nastyKinds) {
    longest = 0
    parser.read(many(piece, long))
    expect(longest, about).toBeLessThanOrEqual(parser.most)
  }
})
