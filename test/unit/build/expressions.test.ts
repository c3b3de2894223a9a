import { expect, test } from 'vitest'
import { expressionsIn } from '#build/expressions/find.ts'
import { slowness } from '#build/expressions/slow.ts'

const flagged = (expression: RegExp) =>
  slowness({ source: expression.source, flags: expression.flags }).length > 0

// Examples for `slowness` alone, apart from the check of this project's sources.
test.each([
  ['two parts that take the same text', /^(.+?)\s+(\d+)$/],
  ['a repetition within a repetition', /^(?:a+)+$/],
  ['an end that is looked for from every place', /\s+$/],
  ['a word that begins again within what follows it', /token[\w-]*\s*:/i],
  ['a scheme that may begin at every dot', /\b[a-z][a-z0-9+.-]*:\/\//],
  ['a quote that stays open', /"(?:\\.|[^"\\])*"/],
  ['a part that fails within a repetition', /(?:x+y)*/],
  ['lines that may be empty', /^\s*url:/m],
  ['a look ahead', /(?=[a-z]+1)/],
])('%s is refused', (_, expression) => {
  expect(flagged(expression)).toBe(true)
})

test.each([
  ['one that begins where the text does', /^[a-z]+ \d+$/],
  ['one that ends wherever it is', /#[A-Za-z0-9_-]{24,}/g],
  ['a quote to its end, or to that of the text', /"(?:\\[\s\S]?|[^"\\])*"?/],
  ['a beginning that cannot come within', /"[^"]*"/],
  ['a run that is read from its start alone', /(?<![A-Za-z])[A-Za-z]+!/],
  ['a word from its start alone', /\b\w+!/],
  ['repetitions of a few', /token[\w-]{0,64}:/],
  ['one that is tried at one place', /\s+x/y],
])('%s is accepted', (_, expression) => {
  expect(flagged(expression)).toBe(false)
})

test('expressions are found in a script, also those built from constants', () => {
  const source = String.raw`
const word = '[a-z]+'
const pair = String.raw${'`'}${'$'}{word}=(\d+)${'`'}
text.replace(/a\/b/g, '').match(new RegExp(pair, 'i'))
RegExp(typed)
`
  expect(expressionsIn('some.ts', source)).toEqual([
    { line: 4, literal: { source: String.raw`a\/b`, flags: 'g' } },
    { line: 4, literal: { source: String.raw`[a-z]+=(\d+)`, flags: 'i' } },
    { line: 5, literal: undefined },
  ])
})

test('expressions are found in a component, also in its markup', () => {
  const source = `<script lang="ts">
const trimmed: string = text.replace(/ +/, '')
const made = new RegExp(text)
</script>
<p>{#if /x/u.test(trimmed)}yes{/if}</p>`
  expect(expressionsIn('Some.svelte', source)).toEqual([
    { line: 2, literal: { source: ' +', flags: '' } },
    { line: 3, literal: undefined },
    { line: 5, literal: { source: 'x', flags: 'u' } },
  ])
})
