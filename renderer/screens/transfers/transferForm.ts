import { stateWords } from '#renderer/bridge/stateWords.ts'
import { firstPart, type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import { CopyRequest, SyncRequest } from '#shared/account/transfer.ts'
import { instanceName } from '#shared/format/name.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { firstWords, unquoted } from '#shared/market/shell-words.ts'

/** The input of a copy's form. Instances are ids as text, empty while none is chosen. */
export interface CopyDraft {
  from: string
  backup?: boolean
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

export function readCopy(draft: CopyDraft): ReadForm<CopyRequest> {
  return readForm(CopyRequest, { ...draft, from: chosenId(draft.from), to: chosenId(draft.to) })
}

export function readSync(draft: SyncDraft): ReadForm<SyncRequest> {
  const { words, rest } = firstWords(draft.flags)
  if (rest.trim() !== '') return { errors: { flags: 'A quote is not closed.' } }
  const flags = words.map(({ text }) => unquoted(text))
  return readForm(SyncRequest, { ...draft, instance: chosenId(draft.instance), flags }, firstPart)
}

/** NaN while none is chosen, so that two such ids are not equal. */
function chosenId(typed: string): number {
  return typed === '' ? Number.NaN : Number(typed)
}

/** The default destination: the only other running instance. None of several, since a copy overwrites files. */
export function onlyOther(instances: Readonly<Record<string, InstanceView>>, from: string): string {
  const others = Object.values(instances).filter(
    ({ id, state }) => state === 'running' && String(id) !== from,
  )
  return from !== '' && others.length === 1 ? String(others[0]?.id) : ''
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** The instances to choose from by name, running ones first, since only these can copy or sync. */
export function instanceChoices(
  instances: Readonly<Record<string, InstanceView>>,
): { value: string; label: string }[] {
  return Object.values(instances)
    .sort(
      (a, b) =>
        Number(b.state === 'running') - Number(a.state === 'running') ||
        collator.compare(instanceName(a), instanceName(b)),
    )
    .map(instance => ({
      value: String(instance.id),
      label:
        instance.state === 'running'
          ? instanceName(instance)
          : `${instanceName(instance)} (${stateWords(instance.state, instance.actualStatus).word.toLowerCase()})`,
    }))
}
