import * as v from 'valibot'
import { named } from '../format/name.ts'
import type { ProjectSpec } from './spec.ts'

/** One thing of the user's that a project may use: `secret:HF_TOKEN`, `volume:datasets`, `cloud:s3.101`, or `key`. */
export const Use = v.pipe(v.string(), v.maxLength(1200, 'at most 1,200 characters'))
export type Use = v.InferOutput<typeof Use>

/** What a project's file uses of the user's without having been allowed to; it's asked for once. */
export interface Borrowed {
  use: Use
  /** The names of the projects that use it. */
  of: readonly string[]
}

export const secretUse = (name: string): Use => `secret:${name}`
export const volumeUse = ({ name }: { name: string }): Use => `volume:${name}`
/** A key for all instances, for copies from and to clouds where the service can't limit one to the copy. */
export const keyUse: Use = 'key'

/** The clouds that a project copies from and to, by provider and, where the file names one, connection. */
export function cloudUses({ from = [], to }: Pick<ProjectSpec, 'from' | 'to'>): Use[] {
  const addresses = [from].flat().map(copy => (typeof copy === 'string' ? copy : copy.cloud))
  const all = [...addresses, ...(to === undefined ? [] : [to])]
  return [...new Set(all.map(address => `cloud:${address.split('://', 1)[0]}`))]
}

/** The question to which a use is the answer. */
export function borrowedQuestion({ use, of }: Borrowed): string {
  const [kind, name = ''] = use.split(/:(.*)/s)
  const others = of.length === 0 ? '' : named(of)
  if (kind === 'secret') return `Use the ${name} you entered${others && ` for ${others}`}?`
  if (kind === 'volume') return `Use your volume ${name}${others && `, as ${others} does`}?`
  if (kind === 'cloud') return `Use your cloud connection to ${name}${others && `, as ${others} does`}?`
  return 'Give its machine a key that can rent, stop and destroy all your instances?'
}

/** The uses that a plan creates, so that agreeing to it allows them: a new volume. */
export function usesMade({ volume }: { volume?: { name: string; id?: number } | undefined }): Use[] {
  return volume && volume.id === undefined ? [volumeUse(volume)] : []
}
