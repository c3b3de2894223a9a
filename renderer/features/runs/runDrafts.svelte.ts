import type { WatchRun } from '#shared/automation/watch.ts'
import { emptyRun, type RunFormFields, readRun, runFormFieldsOf } from './runForm.ts'

/** The input for a new or changed run. */
export class RunDraft {
  fields: RunFormFields = $state({ ...emptyRun })
  /** The chosen download folder on this computer. */
  chosen: { choice: string; name: string } | undefined = $state.raw()
  /** The download folder before the change. */
  readonly #before: string | undefined
  /** Berth's own download folder, as shown to the user. */
  own = $state('Berth’s folder in your downloads')
  readonly into: string = $derived.by(() => this.chosen?.name ?? this.#before ?? this.own)
  /** The request, or the errors by field. */
  readonly read = $derived.by(() => readRun(this.fields, this.chosen?.choice))

  /** Begins with a saved run, to change it. */
  constructor(kept?: WatchRun) {
    this.#before = kept?.into
    if (kept) this.fields = runFormFieldsOf(kept)
  }
}

/** Drafts by account and instance, which survive leaving the tab until the page is reloaded. */
const drafts = new Map<string, RunDraft>()

const keyOf = (account: string, instance: number) => `${account}/${instance}`

/** Whether a draft was begun and neither started nor cancelled. */
export function hasRunDraft(account: string, instance: number): boolean {
  return drafts.has(keyOf(account, instance))
}

/** The begun draft, or a new one. */
export function runDraft(account: string, instance: number): RunDraft {
  const key = keyOf(account, instance)
  const draft = drafts.get(key) ?? new RunDraft()
  drafts.set(key, draft)
  return draft
}

export function dropRunDraft(account: string, instance: number): void {
  drafts.delete(keyOf(account, instance))
}
