import { isDeepStrictEqual } from 'node:util'
import { Document, isCollection, isMap, isNode, parseDocument } from 'yaml'
import { BerthError } from '#shared/problem.ts'
import { type ProjectDraft, type ProjectSpec, specDraft } from '#shared/project/spec.ts'
import { readSpec } from './read-spec.ts'

/** Lists and objects that people write on one line. */
const onOneLine = [
  ['machine', 'gpu'],
  ['machine', 'region'],
  ['ports'],
  ['results'],
  ['checkpoint'],
  ['stop'],
  ['failed'],
  ['outbid'],
  ['retry'],
  ['before_stop'],
  ['sweep'],
  ['setup', 'reads'],
  ['volume'],
  ['cache'],
  ['from'],
]

/** A `berth.yaml` for a spec, for people to read and change. */
export function specText(spec: ProjectSpec): string {
  const document = new Document(specDraft(spec))
  for (const path of onOneLine) setFlow(document.getIn(path, true), path)
  return document.toString({ lineWidth: 0 })
}

/**
 * The text of a `berth.yaml` with another spec. Entries that keep their value stay as they are written, and so do all
 * comments but those of removed entries. Throws `spec_fixed` where a change would break a reference within the file.
 */
export function editedText(text: string, spec: ProjectSpec): string {
  const current = readSpec(text)
  if ('problems' in current) throw new BerthError(uneditable)
  const document = parseDocument(text, { merge: false, schema: 'core' })
  const wanted = plain(specDraft(spec))
  change(document, [], plain(specDraft(current.spec)), wanted)
  const edited = textOf(document)
  const read = edited === undefined ? undefined : readSpec(edited)
  if (edited === undefined || !read || 'problems' in read) throw new BerthError(uneditable)
  if (!isDeepStrictEqual(plain(specDraft(read.spec)), wanted)) throw new BerthError(uneditable)
  return edited
}

type Entries = Readonly<Record<string, unknown>>

/** Without the entries that are undefined. */
function plain(draft: ProjectDraft): Entries {
  return JSON.parse(JSON.stringify(draft))
}

function change(document: Document, path: readonly string[], before: Entries, after: Entries): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, wanted] = [before[key], after[key]]
    if (isDeepStrictEqual(was, wanted)) continue
    const at = [...path, key]
    const node = document.getIn(at, true)
    if (wanted === undefined) document.deleteIn(at)
    else if (isMap(node) && isEntries(was) && isEntries(wanted)) change(document, at, was, wanted)
    else document.setIn(at, isList(wanted) ? listNode(document, at, wanted, node) : wanted)
  }
}

/** A list or object as a node, with the comments of the one that it replaces. */
function listNode(document: Document, at: readonly string[], value: object, replaced: unknown) {
  const node = document.createNode(value)
  setFlow(node, at)
  if (isNode(replaced))
    Object.assign(node, { comment: replaced.comment, commentBefore: replaced.commentBefore })
  return node
}

function setFlow(node: unknown, path: readonly string[]): void {
  if (isCollection(node)) node.flow = onOneLine.some(one => isDeepStrictEqual(one, path))
}

function isList(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isEntries(value: unknown): value is Entries {
  return isList(value) && !Array.isArray(value)
}

/** Undefined if it refers to an entry that was removed. */
function textOf(document: Document): string | undefined {
  try {
    return document.toString({ lineWidth: 0 })
  } catch {
    return undefined
  }
}

const uneditable = {
  code: 'spec_fixed',
  message: 'This form can’t change this berth.yaml.',
  advice: 'Edit the file itself. Berth reads it again when you come back.',
}
