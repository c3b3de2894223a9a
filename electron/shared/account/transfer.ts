import * as v from 'valibot'
import { given } from '../fields.ts'
import { breaksSsh } from '../instance/file-names.ts'

const chosen = (what: string) => v.pipe(v.number(`choose ${what}`), v.safeInteger(), v.minValue(1))

const path = (what: string) => given(what, 4096)

const losesSsh = 'copying into this folder can break SSH on the instance: choose another, such as /workspace/'

/** A copy between two instances (section 4.3). */
export const CopyRequest = v.pipe(
  v.object({
    from: chosen('the instance to copy from'),
    /** From the service's backup of that instance or volume. */
    backup: v.optional(v.boolean()),
    fromPath: path('the path to copy from'),
    to: chosen('the instance to copy to'),
    toPath: v.pipe(
      path('the path to copy to'),
      v.check(to => !breaksSsh(to), losesSsh),
    ),
  }),
  v.forward(
    v.partialCheck(
      [['from'], ['backup'], ['fromPath'], ['to'], ['toPath']],
      ({ from, backup, fromPath, to, toPath }) => backup === true || from !== to || fromPath !== toPath,
      'choose another folder than the source',
    ),
    ['toPath'],
  ),
)
export type CopyRequest = v.InferOutput<typeof CopyRequest>

const Direction = v.picklist(['Instance To Cloud', 'Cloud To Instance'])

/** A cloud sync (section 4.3). */
export const SyncRequest = v.pipe(
  v.object({
    instance: chosen('an instance'),
    direction: Direction,
    instancePath: path('the path on the instance'),
    cloudPath: path('the path in the cloud'),
    /** The id of a cloud connection, made in the service's web console. */
    connection: given('the id of the cloud connection', 256),
    /** The user agrees to a key for all instances, where the service can't limit one to this call. */
    wideKey: v.optional(v.boolean()),
    flags: v.pipe(v.array(v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(256))), v.maxLength(50)),
  }),
  v.forward(
    v.partialCheck(
      [['direction'], ['instancePath']],
      ({ direction, instancePath }) => direction === 'Instance To Cloud' || !breaksSsh(instancePath),
      losesSsh,
    ),
    ['instancePath'],
  ),
)
export type SyncRequest = v.InferOutput<typeof SyncRequest>

/** A cloud storage of the user's that the service can copy from and to. */
export interface CloudConnectionView {
  /** As a sync's request has it. */
  id: string
  name?: string
  /** `s3`, `drive`, `b2`, `dropbox`, `hf`. */
  provider?: string
}

export const TransferId = v.pipe(v.string(), v.regex(/^t[0-9a-f]{16}$/, 'not a transfer'))

/** `in-use` until the sync ends; `stays` if Berth could not delete it, so that the user should. Without the secret. */
const TransferKey = v.object({
  id: v.number(),
  name: v.string(),
  state: v.picklist(['in-use', 'deleted', 'stays']),
  /** False where the account has no permissions, so that the key may do everything. */
  scoped: v.boolean(),
  /** Whether it can only make this sync's call for this instance. */
  limited: v.optional(v.boolean()),
})
export type TransferKey = v.InferOutput<typeof TransferKey>

const Side = v.object({ instance: v.optional(v.number()), path: v.string() })

/** A copy or sync that Berth started, as stored and shown. The service's reports are about 30 seconds late. */
export const TransferFields = v.object({
  id: v.string(),
  kind: v.picklist(['copy', 'sync']),
  /** Absent for a copy. */
  direction: v.optional(Direction),
  from: Side,
  to: Side,
  /**
   * As far as the service reports it. `unknown`: it does not, or not any more; with `endedAt` Berth has stopped waiting.
   */
  step: v.picklist(['starting', 'running', 'done', 'failed', 'cancelled', 'unknown']),
  /** The service's status line about it, or why nothing is known. */
  message: v.optional(v.string()),
  /** 0 to 1, where the status line has it. */
  progress: v.optional(v.number()),
  /** Epoch seconds of the account's time. */
  startedAt: v.number(),
  endedAt: v.optional(v.number()),
  /** A web page of the service with the result. */
  resultUrl: v.optional(v.string()),
  /** The API key that was created for a sync. */
  key: v.optional(TransferKey),
})
export type TransferView = v.InferOutput<typeof TransferFields>
export type TransferStep = TransferView['step']

/** Whether it is in progress, as far as is known. */
export function isRunning({ step }: Pick<TransferView, 'step'>): boolean {
  return step === 'starting' || step === 'running'
}

/** Whether it has ended, or Berth has stopped waiting. */
export function isOver({ step, endedAt }: Pick<TransferView, 'step' | 'endedAt'>): boolean {
  return endedAt !== undefined || step === 'done' || step === 'failed' || step === 'cancelled'
}
