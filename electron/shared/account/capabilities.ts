/** The permission categories that the interface names (section 5.3). */
const describedCategories = [
  'misc',
  'user_read',
  'user_write',
  'instance_read',
  'instance_write',
  'machine_read',
  'machine_write',
] as const
const furtherCategories = ['billing_read', 'billing_write', 'team_read', 'team_write'] as const
export type PermissionCategory = (typeof describedCategories | typeof furtherCategories)[number]

/** The capabilities of an account's service, where deployments differ. */
export interface Capabilities {
  /** Starts a container again that exited; elsewhere an exit is final (section 3.1). */
  restartsExited: boolean
  /** An outbid instance may look as if its user had stopped it. */
  showsOutbidAsStopped: boolean
  /** Charges the disk of an instance whose host is offline. */
  chargesOffline: boolean
  /** A rental chooses between direct connections and the proxy alone. */
  choosesDirect: boolean
  /** Takes ports from 70000 to 99999, for any port that is the same outside as inside. */
  takesIdentityPorts: boolean
  /** Characters, of rentals and templates. */
  longestStartScript: number
  /** Documents how a key is limited to one call with certain arguments. */
  limitsKeys: boolean
  /** Takes a renter's report on a machine. */
  takesReports: boolean
  /** Reads an image's tags, and tries the login to a registry. */
  readsRegistries: boolean
  /** Keeps backups of instances and volumes whose machine goes away. */
  keepsBackups: boolean
  /** On-demand instances can be paid for ahead, at a discount. */
  prepays: boolean
  /** The categories of a key's permissions. */
  permissions: readonly PermissionCategory[]
}

/** Those of the interface, which hold until the service's answers show others. */
export const describedCapabilities: Capabilities = {
  restartsExited: false,
  showsOutbidAsStopped: false,
  chargesOffline: true,
  choosesDirect: false,
  takesIdentityPorts: false,
  longestStartScript: 16_384,
  limitsKeys: false,
  takesReports: false,
  prepays: false,
  keepsBackups: false,
  readsRegistries: false,
  permissions: describedCategories,
}

/** Those of the best-known public deployment. */
export const publicCapabilities: Capabilities = {
  restartsExited: true,
  showsOutbidAsStopped: true,
  chargesOffline: false,
  choosesDirect: true,
  takesIdentityPorts: true,
  longestStartScript: 4048,
  limitsKeys: true,
  takesReports: true,
  prepays: true,
  keepsBackups: true,
  readsRegistries: true,
  permissions: [...describedCategories, ...furtherCategories],
}
