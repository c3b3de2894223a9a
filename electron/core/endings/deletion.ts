import * as v from 'valibot'
import type { FullClient } from '#service/client.ts'
import type { CallOptions } from '#service/http/operation.ts'
import { DeletionKind, type DeletionView } from '#shared/automation/ending.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Problem } from '#shared/problem.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import { type Permission, StoredProblem } from '../bridge/problems.ts'
import { type Collection, type CollectionContext, openCollection } from '../storage/collection.ts'
import { phaseOf } from './record.ts'

/** What is to be deleted: by its id, or by the name that Berth gave it, where the answer to its creation was lost. */
const Target = v.object({
  kind: DeletionKind,
  id: v.optional(v.number()),
  name: v.optional(v.string()),
  /** A volume's machine: names are unique there only. */
  machine: v.optional(v.number()),
})
export type DeletionTarget = v.InferOutput<typeof Target>

/** A deletion, stored before it is requested. Times in epoch seconds of the account's time. */
const Deletion = v.object({
  ...Target.entries,
  by: v.picklist(['user', 'berth']),
  since: v.number(),
  requests: v.number(),
  /** What a list has shown, or the given id. */
  ids: v.array(v.number()),
  /** The service has answered a request for it: without that, a list that lacks it proves nothing. */
  answered: v.optional(v.boolean()),
  /** Once it is over: how many further lists lacked it. */
  goneLooks: v.optional(v.number()),
  /** The last request's failure. */
  problem: v.optional(StoredProblem),
  /** The user was alerted that it lasts. */
  isUrgent: v.optional(v.boolean()),
})
export type Deletion = v.InferOutput<typeof Deletion>

export function deletionKey({ kind, id, name, machine }: DeletionTarget): string {
  return id === undefined ? `${kind}/${name}${machine === undefined ? '' : `@${machine}`}` : `${kind}/${id}`
}

export function openStoredDeletions(context: CollectionContext): Promise<Collection<Deletion, string>> {
  return openCollection(context, {
    name: 'deletions',
    schema: Deletion,
    key: deletionKey,
    rescue: { instead: { '*.by': 'berth', '*.ids': [] }, keep: deletion => deletion },
    view: all => ({
      deletions: Object.fromEntries(
        all.filter(({ goneLooks }) => goneLooks === undefined).map(one => [deletionKey(one), viewOf(one)]),
      ),
    }),
  })
}

function viewOf(deletion: Deletion): DeletionView {
  return { phase: phaseOf(deletion), since: deletion.since, problem: deletion.problem?.message }
}

/** One of the things that the service lists. */
export interface Listed {
  id: number
  name?: string | undefined
  machine?: number | undefined
  /** Whether it has instances, which would be destroyed with it. */
  isHeld?: boolean
}

interface KindCalls {
  noun: string
  permission: Permission
  list(client: FullClient, options: CallOptions): Promise<Listed[]>
  remove(client: FullClient, id: number, options: CallOptions): Promise<void>
}

/** The calls for each kind. Nobody else makes the last. */
export const deletionCalls: Readonly<Record<DeletionKind, KindCalls>> = {
  apiKey: {
    noun: 'API key',
    permission: 'user_write',
    list: ({ apiKeys }, options) => apiKeys.list(options),
    remove: ({ apiKeys }, id, options) => apiKeys.remove(id, options),
  },
  volume: {
    noun: 'volume',
    permission: 'instance_write',
    list: async ({ volumes }, options) =>
      (await volumes.list(options)).map(({ id, label, machine_id }) => ({
        id,
        name: label,
        machine: machine_id,
      })),
    remove: ({ volumes }, id, options) => volumes.remove(id, options),
  },
  overlay: {
    noun: 'network',
    permission: 'instance_write',
    list: async ({ overlays }, options) =>
      (await overlays.list(options)).map(({ overlay_id, name, instances }) => ({
        id: overlay_id,
        name,
        // A record without them may have any.
        isHeld: instances === undefined || instances.length > 0,
      })),
    remove: ({ overlays }, id, options) => overlays.remove(id, options),
  },
}

/** Whether a listed thing is meant. */
export function isMeant({ id, name, machine }: DeletionTarget, listed: Listed): boolean {
  if (id !== undefined) return listed.id === id
  return listed.name === name && (machine === undefined || listed.machine === machine)
}

/** `API key #4`, `volume “data”`. */
function deletionName({ kind, id, name }: DeletionTarget): string {
  const { noun } = deletionCalls[kind]
  return id === undefined ? `${noun} “${name}”` : `${noun} #${id}`
}

/** Activity's line on a user's deletion; `isSeen`: a list lacks it. */
export function deletedByUser(deletion: Deletion, isSeen: boolean): string {
  return `${isSeen ? 'Deleted' : 'Requested to delete'} ${deletionName(deletion)}`
}

export function deletionAlertId(account: AccountId, deletion: DeletionTarget): string {
  return `${account}/deletion/${deletionKey(deletion)}`
}

export function notDeletedAlert(account: AccountId, deletion: Deletion): Alert {
  const { problem, requests, kind } = deletion
  const why = problem?.message ?? 'The service accepts it, and still lists it.'
  const cost = kind === 'volume' ? ' You pay for it until it is deleted.' : ''
  return alertOf('notDeleted', {
    id: deletionAlertId(account, deletion),
    title: `The ${deletionName(deletion)} isn’t deleted yet`,
    body: `Berth tried ${requests} times and goes on.${cost} ${why} If it goes on, use the service’s website.`,
  })
}

export function finallyDeletedAlert(account: AccountId, deletion: Deletion): Alert {
  return alertOf('endedAfterAll', {
    id: deletionAlertId(account, deletion),
    title: `The ${deletionName(deletion)} is deleted`,
    body: 'It took several requests.',
  })
}

export const notDeletedYet: Problem = {
  code: 'not_deleted_yet',
  message: 'The service still lists it.',
  advice: 'Berth keeps trying.',
}

/** An instance in a network is destroyed with it. */
export const holdsInstances: Problem = {
  code: 'holds_instances',
  message: 'The service says that an instance is still in it.',
  advice: 'It is deleted once that is gone.',
}
