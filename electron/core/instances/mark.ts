import type { Instance } from '#service/instance-record.ts'
import type { AccountId } from '#shared/ids.ts'
import type { OpenRequest } from '#shared/market/rent-request.ts'

/**
 * The mark by which a rental finds its instance again: ` berth:r0123456789abcdef` at the end of the label, and the
 * same id in the environment.
 */
const pattern = / ?berth:(r[0-9a-f]{16})$/

export const markVariable = 'BERTH_RENTAL'

export function markLabel(label: string | undefined, rental: string): string {
  return label ? `${label} berth:${rental}` : `berth:${rental}`
}

/** The label as the user gave it; undefined when it was only the mark. */
export function plainLabel(label: string): string | undefined {
  return label.replace(pattern, '').trim() || undefined
}

/** The rental an instance was created for, by its label or else its environment. */
export function rentalOf(
  label: string | undefined,
  env: readonly (readonly [string, string])[],
): string | undefined {
  const marked = label && pattern.exec(label)?.[1]
  return marked ?? env.find(([name]) => name === markVariable)?.[1]
}

/** The mark that a record shows, if any. */
export function markOf({ label, extra_env }: Pick<Instance, 'label' | 'extra_env'>): string | undefined {
  return rentalOf(label, extra_env ?? [])
}

/** Whether the record shows neither label nor environment, so that a mark could not be seen. */
export function hidesMark({ label, extra_env }: Pick<Instance, 'label' | 'extra_env'>): boolean {
  return label === undefined && extra_env === undefined
}

/** An environment variable of a replacement: the instance that it replaces, so that another Berth can recognise it. */
export const replacesVariable = 'BERTH_REPLACES'

/** The instance in whose place a request rents, if any. */
export function replacedBy({ env }: Pick<OpenRequest, 'env'>): number | undefined {
  const value = env.find(({ name }) => name === replacesVariable)?.value
  return value === undefined ? undefined : Number(value)
}

/** The keychain entry of an instance's own restricted key (section 2.1). */
export function instanceKeyEntry(account: AccountId, instance: number): string {
  return `${account} instance ${instance}`
}
