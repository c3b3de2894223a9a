import { Marked } from 'marked'
import { expect, test } from 'vitest'
import { isTooMuch } from '#renderer/screens/templates/readmeWork.ts'
import { many } from '#test/hostile/megabytes.ts'

test.each([
  ['an address that does not end', `${many('a.a.', 40_000)}@`],
  ['quotes within quotes', '>'.repeat(10_000)],
  ['numbered lists within each other', many('1. ', 10_000)],
  ['emphasis that does not end', many('*a', 100_000)],
  ['emphasis over many lines', many('_a_b\n', 100_000)],
  ['emphasis over quoted lines', many('> *a*b\n', 200_000)],
  ['web addresses in each other', many('www.a(', 100_000)],
  ['items with empty lines between', many('- a\n\n', 260_000)],
  ['looks that stay open', many('<b a=1>', 1000)],
  ['more than a template may hold', many('a ', 300_000)],
])('a readme too slow to format stays plain text: %s', (_, text) => {
  expect(isTooMuch(text)).toBe(true)
})

/** A usual readme, to be repeated. */
const section = `# A template for training

It installs **PyTorch** with \`CUDA\` and a [server](https://example.com/a_long_path?with=parameters), *as is*.

- one item with **bold** and _emphasis_
  - an item in it
    1. and one in that
- [ ] a task

> A note
> > on a note

| Name | Value |
|------|-------|
| \`HF_TOKEN\` | your **token** |

\`\`\`python
def f(*args, **kwargs): return [a_b for a_b in args] # ${'x'.repeat(200)}
\`\`\`

<p align="center"><a href="https://example.com"><b>Site</b></a></p>

`

test('a usual readme of 200 KB is formatted', () => {
  const text = many(section, 200 * 1024)
  expect(isTooMuch(text)).toBe(false)
  const markup = String(new Marked({ gfm: true, breaks: false, async: false }).parse(text))
  expect(markup.split('<h1>').length - 1).toBe(text.split('# A template for training').length - 1)
})

test('a long paragraph, a long line and an inline picture are formatted', () => {
  expect(isTooMuch(many('A sentence of some words, _one_ of them with emphasis. ', 60_000))).toBe(false)
  expect(isTooMuch(`![logo](data:image/png;base64,${many('AbC1', 12_000)})`)).toBe(false)
})
