import { readdirSync, readFileSync } from 'node:fs'
import { type AST, parse } from 'svelte/compiler'
import { expect, test } from 'vitest'
import { at } from '#build/places.ts'

/** The bodies of a template's blocks (`{#if}`, `{#each}` …), of which Svelte trims both ends. */
function blockBodies(node: unknown, parent = ''): AST.Fragment[] {
  if (typeof node !== 'object' || node === null) return []
  if (Array.isArray(node)) return node.flatMap(each => blockBodies(each, parent))
  const type = 'type' in node && typeof node.type === 'string' ? node.type : ''
  const isBody = type === 'Fragment' && parent.endsWith('Block')
  const inside = Object.values(node).flatMap(each => blockBodies(each, type === '' ? parent : type))
  return isBody ? [node as AST.Fragment, ...inside] : inside
}

/** A blank beside a tag of a block, after or before a text: without any there is nothing to parse for. */
const mayLose = /\{[#:][^{}]*(?:\{[^{}]*\}[^{}]*)*\}[^\S\n]+\S|\S[^\S\n]+\{[:/]/

/** Texts whose blank at the edge of a block isn't shown, though it's no line break: `{#if more}2 more. {/if}next`. */
function lostBlanks(source: string): string[] {
  if (!mayLose.test(source)) return []
  return blockBodies(parse(source, { modern: true }).fragment).flatMap(({ nodes }) => {
    const [first, last] = [nodes[0], nodes.at(-1)]
    return [
      ...(first?.type === 'Text' && /^[^\S\n]+(?!\s*\n)/.test(first.data) ? [first.data] : []),
      ...(last?.type === 'Text' && /[^\S\n]$/.test(last.data) && !/\n\s*$/.test(last.data)
        ? [last.data]
        : []),
    ]
  })
}

test('no text of the page loses its blank at the edge of a block', () => {
  expect(lostBlanks('{#if more}<a>2 more</a>. {/if}next')).toEqual(['. '])
  expect(lostBlanks('a{#each all as one (one)} {one}{/each}')).toEqual([' '])
  expect(lostBlanks('{#if more}\n  <p>2</p>\n{/if}')).toEqual([])
  const files = readdirSync(at('renderer'), { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.svelte'),
  )
  expect(files.length).toBeGreaterThan(100)
  const found = files.flatMap(file =>
    lostBlanks(readFileSync(at(`renderer/${file}`), 'utf8')).map(text => `${file}: ${JSON.stringify(text)}`),
  )
  expect(found).toEqual([])
})
