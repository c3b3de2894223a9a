import type { WatchRun } from '../../../electron/contract/automation/watch.ts'
import { emptyRun, fieldsOf, type RunFields, readRun } from './runForm.ts'

/** A run that is being written. */
export class RunDraft {
  fields: RunFields = $state({ ...emptyRun })
  /** The folder of this machine that was chosen for what is fetched. */
  chosen: { choice: string; name: string } | undefined = $state.raw()
  /** Where it went so far, of one that is changed. */
  readonly #before: string | undefined
  /** Berth's own folder, as people read it. */
  own = $state('Berth’s folder in your downloads')
  readonly into: string = $derived.by(() => this.chosen?.name ?? this.#before ?? this.own)
  /** What is asked for, or which fields do not say it. */
  readonly read = $derived.by(() => readRun(this.fields, this.chosen?.choice))

  /** With one that is kept already, to change it. */
  constructor(kept?: WatchRun) {
    this.#before = kept?.into
    if (kept) this.fields = fieldsOf(kept)
  }
}

/** By account and instance: kept while the page lives, so that leaving the tab loses nothing. */
const drafts = new Map<string, RunDraft>()

const keyOf = (account: string, instance: number) => `${account}/${instance}`

/** Whether one was begun, and neither run nor cancelled. */
export function hasRunDraft(account: string, instance: number): boolean {
  return drafts.has(keyOf(account, instance))
}

/** The one that was begun, or a new one. */
export function runDraft(account: string, instance: number): RunDraft {
  const key = keyOf(account, instance)
  const draft = drafts.get(key) ?? new RunDraft()
  drafts.set(key, draft)
  return draft
}

export function dropRunDraft(account: string, instance: number): void {
  drafts.delete(keyOf(account, instance))
}
