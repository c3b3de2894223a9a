import { describedCapabilities, type PermissionCategory } from '#shared/account/capabilities.ts'
import { named } from '#shared/format/name.ts'

/** The rights of a key with a category (FIELDS: which calls are in which). */
const words: Record<PermissionCategory, string> = {
  misc: 'Search offers; see and make workergroups',
  user_read: 'Read the account: credit, keys, templates, two-factor status, preferences and webhooks',
  user_write: 'Change the account: keys, templates, two-factor methods, preferences and webhooks',
  instance_read: 'See instances',
  instance_write: 'Rent, start, stop, change and destroy instances; copy data',
  machine_read: 'See network disks',
  machine_write: 'Change machines and network disks',
  billing_read: 'See charges and invoices',
  billing_write: 'Transfer credit',
  team_read: 'See the team, its members and their roles',
  team_write: 'Invite and remove members of the team, and change their roles',
}

const short: Record<PermissionCategory, string> = {
  misc: 'search offers',
  user_read: 'read the account',
  user_write: 'change the account',
  instance_read: 'see instances',
  instance_write: 'rent and change instances',
  machine_read: 'see network disks',
  machine_write: 'change machines',
  billing_read: 'see charges',
  billing_write: 'transfer credit',
  team_read: 'see the team',
  team_write: 'change the team',
}

function isKnown(category: string): category is PermissionCategory {
  return Object.hasOwn(words, category)
}

export function categoryWords(category: string): string {
  return isKnown(category) ? words[category] : 'A category that only this service knows'
}

/** Names every permission, however many there are. */
const whole = { most: Number.POSITIVE_INFINITY }

/** One sentence on a key's rights; categories with constraints are marked as limited. */
export function mayWords(
  permissions: Record<string, unknown>,
  { permissions: known } = describedCapabilities,
): string {
  const has = (category: string) => Object.hasOwn(permissions, category)
  const may = Object.entries(permissions).map(
    ([category, constraints]) =>
      `${isKnown(category) ? short[category] : category}${isConstrained(constraints) ? ' (within limits)' : ''}`,
  )
  const not = known.filter(category => !has(category)).map(category => short[category])
  if (may.length === 0) return 'It has no permissions.'
  return `It can ${named(may, whole)}${not.length > 0 ? `, but not ${named(not, { ...whole, last: ' or ' })}` : ''}.`
}

function isConstrained(constraints: unknown): boolean {
  return typeof constraints === 'object' && constraints !== null && Object.keys(constraints).length > 0
}
