import * as v from 'valibot'
import { CopyRequest, SyncRequest } from '../../../electron/contract/account/transfer.ts'
import { instanceName } from '../../../electron/contract/format/name.ts'
import type { InstanceView } from '../../../electron/contract/instance/instance.ts'
import { firstWords, unquoted } from '../../words/shellWords.ts'
import { stateWords } from '../../words/state.ts'

/** What is typed into the form of a copy. Instances are ids as text, empty while none is chosen. */
export interface CopyDraft {
  from: string
  fromPath: string
  to: string
  toPath: string
}

export interface SyncDraft {
  instance: string
  direction: SyncRequest['direction']
  instancePath: string
  cloudPath: string
  connection: string
  /** As on a command line. */
  flags: string
}

/** A request, or what is wrong by field, as sentences. */
export type Read<Request> = { request: Request } | { errors: Record<string, string> }

export function readCopy(draft: CopyDraft): Read<CopyRequest> {
  return read(CopyRequest, { ...draft, from: chosenId(draft.from), to: chosenId(draft.to) })
}

export function readSync(draft: SyncDraft): Read<SyncRequest> {
  const { words, rest } = firstWords(draft.flags)
  if (rest.trim() !== '') return { errors: { flags: 'A quote is opened and never closed.' } }
  const flags = words.map(({ text }) => unquoted(text))
  return read(SyncRequest, { ...draft, instance: chosenId(draft.instance), flags })
}

/** Two that are not chosen are not the same one. */
function chosenId(typed: string): number {
  return typed === '' ? Number.NaN : Number(typed)
}

/** Fields whose own message would speak of numbers. */
const choose: Record<string, string> = {
  from: 'Choose the instance to copy from.',
  to: 'Choose the instance to copy to.',
  instance: 'Choose an instance.',
}

function read<Schema extends v.GenericSchema>(
  schema: Schema,
  value: v.InferInput<Schema>,
): Read<v.InferOutput<Schema>> {
  const checked = v.safeParse(schema, value)
  if (checked.success) return { request: checked.output }
  const errors: Record<string, string> = {}
  for (const issue of checked.issues) {
    const field = v.getDotPath(issue)?.split('.')[0] ?? ''
    errors[field] ??= choose[field] ?? sentence(issue.message)
  }
  return { errors }
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}

/**
 * Where to copy to when nothing was said: the one other instance that runs. Of several none is taken, since what lies
 * there is written over.
 */
export function onlyOther(instances: Readonly<Record<string, InstanceView>>, from: string): string {
  const others = Object.values(instances).filter(
    ({ id, state }) => state === 'running' && String(id) !== from,
  )
  return from !== '' && others.length === 1 ? String(others[0]?.id) : ''
}

/** The instances to choose from: those that run first, since the others can take part in nothing. */
export function instanceChoices(
  instances: Readonly<Record<string, InstanceView>>,
): { value: string; label: string }[] {
  return Object.values(instances)
    .sort((a, b) => Number(b.state === 'running') - Number(a.state === 'running') || b.id - a.id)
    .map(instance => ({
      value: String(instance.id),
      label:
        instance.state === 'running'
          ? instanceName(instance)
          : `${instanceName(instance)} (${stateWords(instance.state, instance.actualStatus).word.toLowerCase()})`,
    }))
}
