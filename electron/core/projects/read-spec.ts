import * as v from 'valibot'
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { harmless } from '#shared/instance/file-names.ts'
import type { SpecProblem } from '#shared/project/project.ts'
import { ProjectSpec } from '#shared/project/spec.ts'

export type ReadSpec = { spec: ProjectSpec } | { problems: readonly SpecProblem[] }

/** The number of problems listed per file. */
const mostProblems = 20

/** Parses a `berth.yaml`: its contents, or all of its problems, in which nothing of the file acts on a screen. */
export function readSpec(text: string): ReadSpec {
  const read = parse(text)
  if ('spec' in read) return read
  return { problems: read.problems.map(one => ({ ...one, message: harmless(one.message) })) }
}

function parse(text: string): ReadSpec {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, merge: false, schema: 'core' })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const [broken] = document.errors
  if (broken) return { problems: [{ ...at(broken.pos[0]), message: firstLine(broken.message) }] }
  let value: unknown
  try {
    // Anchors that refer to each other could expand beyond the available memory.
    value = withTexts(document, document.toJS({ maxAliasCount: 20 }))
  } catch {
    return { problems: [{ line: 1, column: 1, message: 'It has too many aliases.' }] }
  }
  if (value === null)
    return { problems: [{ line: 1, column: 1, message: 'It is empty. It needs at least run.' }] }
  const lost = lostNames(value)
  if (lost.length > 0)
    return {
      problems: lost.map(path => ({
        ...at(offsetOf(document, path, true)),
        message: `${path.join('.')} can’t be set.`,
      })),
    }
  const nothing = ['env', 'sweep'].flatMap(key => nothingBelow(document, document.get(key, true)))
  if (nothing.length > 0)
    return {
      problems: nothing.map(offset => ({
        ...at(offset),
        message: 'null is no value. Put it in quotes for the text, or remove it.',
      })),
    }
  const read = v.safeParse(ProjectSpec, value)
  if (read.success) return { spec: read.output }
  const unknown = unknownPaths(ProjectSpec, value).map(path => ({
    ...at(offsetOf(document, path, true)),
    message: `${path.join('.')} is unknown. Allowed here: ${knownAt(path).join(', ')}.`,
  }))
  const wrong = read.issues
    .filter(({ expected }) => expected !== 'never')
    .map(issue => {
      const path = (issue.path ?? []).map(({ key }) => key as string | number)
      return { ...at(offsetOf(document, path, false)), message: sentence(path, issue) }
    })
  const problems = [...unknown, ...wrong].sort((a, b) => a.line - b.line || a.column - b.column)
  return { problems: problems.slice(0, mostProblems) }
}

/** A file's content in which the variables of the environment and of a sweep are texts, as they stand in the file. */
function withTexts(document: Document.Parsed, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const texts = ['env', 'sweep'].flatMap(key => {
    const node = document.get(key, true)
    return isNode(node) ? [[key, textsOf(document, node)]] : []
  })
  return { ...value, ...Object.fromEntries(texts) }
}

/** The values below a node, each as it is written: YAML would make 3.1 of `3.10`, and 7 of `007`. */
function textsOf(document: Document.Parsed, node: unknown): unknown {
  if (isAlias(node)) return textsOf(document, node.resolve(document))
  if (isSeq(node)) return node.items.map(item => textsOf(document, item))
  if (isMap(node))
    return Object.fromEntries(
      node.items.map(({ key, value }) => [String(textsOf(document, key)), textsOf(document, value)]),
    )
  // One without a text is missing: `A:`, and so are `null` and `~`.
  return isScalar(node) && node.value !== null ? node.source || node.value : null
}

/** The offsets of the values below a node that are written as nothing: `null` or `~`. */
function nothingBelow(document: Document.Parsed, node: unknown): number[] {
  if (isAlias(node)) return nothingBelow(document, node.resolve(document))
  if (isSeq(node)) return node.items.flatMap(item => nothingBelow(document, item))
  if (isMap(node)) return node.items.flatMap(({ value }) => nothingBelow(document, value))
  return isScalar(node) && node.value === null && node.source ? [node.range?.[0] ?? 0] : []
}

/** Variables of names that an object has for itself, and that no schema would see. */
function lostNames(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return ['env', 'sweep'].flatMap(key => {
    const variables = [(value as Record<string, unknown>)[key]].flat()
    return ['__proto__', 'constructor', 'prototype'].flatMap(name =>
      variables.some(one => typeof one === 'object' && one !== null && Object.hasOwn(one, name))
        ? [[key, name]]
        : [],
    )
  })
}

/** All entries that the schema does not know: valibot reports only the first of each object. */
function unknownPaths(schema: unknown, value: unknown): string[][] {
  const entries = entriesOf(schema)
  if (!entries || typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    Object.hasOwn(entries, key) ? unknownPaths(entries[key], inner).map(path => [key, ...path]) : [[key]],
  )
}

/** The offset of a value, or of the closest parent where it is missing; for an unknown entry, of its key. */
function offsetOf(document: Document.Parsed, path: readonly (string | number)[], isUnknown: boolean): number {
  if (isUnknown) {
    const enclosing = document.getIn(path.slice(0, -1), true)
    const pair =
      isMap(enclosing) && enclosing.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))
    if (pair && isNode(pair.key)) return pair.key.range?.[0] ?? 0
  }
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

function sentence(path: readonly (string | number)[], issue: v.BaseIssue<unknown>): string {
  const where = path.join('.')
  if (issue.kind === 'schema' && issue.received === 'undefined') return `${where} is missing.`
  return `${where || 'It'}: ${
    issue.kind === 'schema' && issue.message.startsWith('Invalid')
      ? `must be ${issue.expected}`
      : issue.message
  }.`
}

/** The keys that are allowed in a wrong one's place. */
function knownAt(path: readonly (string | number)[]): string[] {
  let schema: unknown = ProjectSpec
  for (const step of path.slice(0, -1)) schema = entriesOf(schema)?.[String(step)]
  return Object.keys(entriesOf(schema) ?? {})
}

function entriesOf(schema: unknown): Record<string, unknown> | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  if ('entries' in schema) return schema.entries as Record<string, unknown>
  return 'wrapped' in schema ? entriesOf(schema.wrapped) : undefined
}

function firstLine(message: string): string {
  const line = message.split('\n', 1)[0] ?? ''
  return line.replace(/ at line \d+, column \d+:?$/, '')
}
